# The first probe is lost; one of the next two, on other paths, is answered. That starts the waits for
# probes again, and the timeout stays away. REQ(req.probe.tail) REQ(req.probe.match)
config evs 8 tail_probe 50us timeout 12

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
+50us > PROBE
+100us > PROBE
> PROBE probe P
+10us < SACK cack 99 probe P
> WRITE ONLY psn 100 rtx ev !A
ignore PROBE
< SACK cack 100
< ACK msn 1
expect completion id 1 success
expect stat timeouts 0
