# The peer answers each probe, and never has the packet, which is too large for a link on the way or
# dropped by rule. It is asked and the packet goes again more and more rarely, not each 60us for as
# long as retries last. A further probe follows an answer that ends a silence. REQ(req.probe.in-vain)
config evs 1 tail_probe 50us timeout 20

post write 8 bytes id 1
> WRITE ONLY psn 100
+50us > PROBE probe A
+10us < SACK cack 99 probe A
> WRITE ONLY psn 100 rtx
+50us > PROBE probe B
+10us < SACK cack 99 probe B
> PROBE
> WRITE ONLY psn 100 rtx
+50us > PROBE probe C
+10us < SACK cack 99 probe C
> PROBE
> WRITE ONLY psn 100 rtx
+50us > PROBE probe D
+10us < SACK cack 99 probe D
> PROBE
> WRITE ONLY psn 100 rtx
+50us > PROBE probe E
+10us < SACK cack 99 probe E
> PROBE
> WRITE ONLY psn 100 rtx
+100us > PROBE probe F
+10us < SACK cack 99 probe F
> PROBE
> WRITE ONLY psn 100 rtx
+200us > PROBE probe G
+10us < SACK cack 99 probe G
> PROBE
> WRITE ONLY psn 100 rtx
+400us > PROBE probe H
+10us < SACK cack 100 probe H
> PROBE
< ACK msn 1
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101
+50us > PROBE probe I
+10us < SACK cack 101 probe I
> PROBE
< ACK msn 2
expect completion id 2 success
