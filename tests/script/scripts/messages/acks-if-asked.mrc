# A peer that acknowledges messages only when asked costs one timeout, and is asked from then on, however lately it
# was. REQ(req.ask.end) REQ(req.complete.acked)
config sack_bytes 4096 sack_in_order_bytes 16384 evs 1 tail_probe 100us timeout 8

post write 8 bytes id 1
> WRITE ONLY psn 100 ackreq
+10us < SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101 !ackreq
+100us..300us > PROBE probe P
< SACK cack 101 probe P                           # it has come
ignore PROBE
+262.144us > WRITE ONLY psn 101 rtx ackreq
< SACK cack 101 rtx
< ACK msn 2 psn 101
expect completion id 2 success
post write 8 bytes id 3
> WRITE ONLY psn 102 ackreq
< SACK cack 102
< ACK msn 3 psn 102
expect completion id 3 success
post write 8 bytes id 4
> WRITE ONLY psn 103 ackreq
