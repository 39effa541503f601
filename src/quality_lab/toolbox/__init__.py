"""Ready tools: stand-ins that keep their world in memory, tools over HTTP, and the catalogues they come from."""
