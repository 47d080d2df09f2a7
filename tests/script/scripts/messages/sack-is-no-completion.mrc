# That every packet has arrived completes nothing; the transport ACK does, and it may cover several
# messages. REQ(req.complete.acked)
config evs 8

post write 8 bytes id 1..3
> WRITE ONLY psn 100..102
< SACK cack 102
expect nothing for 100us
< ACK msn 3
expect completion id 1..3 success
