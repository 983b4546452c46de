"""What must always hold, as properties over runs that Hypothesis makes up."""
