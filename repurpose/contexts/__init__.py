"""How much text each model can take in at once: data with a source and a date."""
