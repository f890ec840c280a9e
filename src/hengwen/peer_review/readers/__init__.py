"""Read battles, human rankings and texts from files."""
