"""From a reply's text to a valid answer: decode, coerce, validate, against one strict subset."""
