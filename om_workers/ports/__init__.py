"""What the services need from outside, as protocols and the records that cross them."""
