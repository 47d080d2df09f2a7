# All packets have arrived but the transport ACK is lost. The last packet of the oldest message goes
# once more, and the responder repeats its ACK. REQ(req.complete.acked)
config evs 4 timeout 8

ignore PROBE
post write 1500 bytes id 1
> WRITE FIRST psn 100
> WRITE LAST psn 101
+10us < SACK cack 101
expect nothing
+262.144us > WRITE LAST psn 101 rtx
+10us < SACK cack 101
< ACK msn 1
expect completion id 1 success
expect nothing for 1s
