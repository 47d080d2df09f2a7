# A peer that leaves the PSN of its ACKs 0: they complete what SACKs have named, when both have come.
# REQ(req.ack.psn)
config evs 4 psn 5000

post write 8 bytes id 1..2
> WRITE ONLY psn 5000..5001
< ACK msn 1 psn 0
expect nothing
< SACK cack 5001
expect completion id 1 success
expect nothing
< ACK msn 2 psn 0
expect completion id 2 success
