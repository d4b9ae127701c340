"""Pure steps that decide what happens next; the shells around them do it."""
