"""Laws of rewards: the heavy-tailed families of the paper, and whatever else arms may pay."""
