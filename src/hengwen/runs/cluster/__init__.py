"""Run scorers and plans on the machines of a Ray cluster; needs the package ray."""
