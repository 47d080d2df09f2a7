# Buffers ran over again and again: behind such an episode no SACK gives the window back.
# REQ(rsp.pressure.penalty)
config pressure 100us

overflow 1
+80us overflow 1
+80us overflow 1
+80us overflow 1
+99us < WRITE ONLY psn 100 msn 0 len 4 ackreq
> SACK cack 100 pen 64
> ACK msn 1
+1us < WRITE ONLY psn 101 msn 1 len 4 ackreq
> SACK cack 101 pen 0 !restore
> ACK msn 2
