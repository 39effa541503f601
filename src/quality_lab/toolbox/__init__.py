"""Ready tools: stand-ins with their world in memory, tools over HTTP, and the catalogues they come from."""
