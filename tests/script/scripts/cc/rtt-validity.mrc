# A round trip counts only where it is known which transmission was answered: not when the packet went
# twice and the SACK does not say that the second caused it.
# REQ(cc.rtt.validity) REQ(wire.bth.sack-rtx)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
expect info srtt_ns 10000
post write 8 bytes id 2
> WRITE ONLY psn 101
+4us < NACK psn 101 reason trimmed
> WRITE ONLY psn 101 rtx
+1us < SACK cack 101 !rtx                              # the first copy was not lost after all
expect info srtt_ns 10000
ignore PROBE
< ACK msn 2
expect completion id 2 success
