# The ACK of a lone message tells no round trip: as long as none is known each asks for a SACK, and a message of two
# packets does so whatever is known. REQ(req.ask.end)
config sack_bytes 4096 sack_in_order_bytes 16384 evs 1 tail_probe 1s

post write 8 bytes id 1
> WRITE ONLY psn 100 ackreq
+10us < ACK msn 1 psn 100
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101 ackreq
+10us < SACK cack 101
< ACK msn 2 psn 101
expect completion id 2 success
post write 8 bytes id 3
> WRITE ONLY psn 102 !ackreq
+10us < ACK msn 3 psn 102
expect completion id 3 success
post write 2048 bytes id 4
> WRITE FIRST psn 103 !ackreq
> WRITE LAST psn 104 ackreq
