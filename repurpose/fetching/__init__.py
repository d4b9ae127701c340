"""Reads pages from the web, and from nowhere that a page could lure us to."""
