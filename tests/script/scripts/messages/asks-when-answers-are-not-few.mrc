# Where a peer like us sends a SACK for as many bytes in order as otherwise, nothing is spared: the end of each
# message asks. REQ(req.ask.end)
config sack_bytes 4096 sack_in_order_bytes 4096 evs 1

post write 8 bytes id 1
> WRITE ONLY psn 100 ackreq
+10us < SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101 ackreq
