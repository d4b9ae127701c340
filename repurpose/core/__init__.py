"""Values and rules that need nothing but themselves: no clock, no randomness, no socket."""
