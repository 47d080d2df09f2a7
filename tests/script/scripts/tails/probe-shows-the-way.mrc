# Of four EVs three are dead, and none may be given up. The answer to a probe shows the one that works:
# what it finds lost goes by that one, and not by the next of the rotation. REQ(req.rtx.proved-ev)
config evs 4 min_active 4 tail_probe 50us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
+50us > PROBE
+100us > PROBE ev B probe P
> PROBE ev C probe Q
+10us < SACK cack 99 probe Q
> WRITE ONLY psn 100 rtx ev C
+50us > PROBE
> PROBE
> PROBE
> PROBE
+10us < SACK cack 100 probe P
> PROBE
< ACK msn 1
expect completion id 1 success
