"""Questions whose answers a rule reads before a person does: the stuff that findings are drawn from."""
