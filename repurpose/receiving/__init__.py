"""Where posted bodies arrive and meet whoever waits for them: callbacks and webhooks."""
