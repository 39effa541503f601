"""Maps: how a home-grown file's records become calls, messages and labels, written down in TOML."""
