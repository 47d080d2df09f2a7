# The last packet is lost and nothing behind it can show that. After the tail probe time a reliability
# probe asks; its answer says that the packet is missing, and it goes again long before the timeout.
# REQ(req.probe.tail) REQ(req.probe.reliability) REQ(req.probe.no-psn)
config evs 4 tail_probe 50us

post write 100 bytes id 1
> WRITE ONLY psn 100 ev A
+50us > PROBE probe P class no_trim
+10us < SACK cack 99 probe P
> WRITE ONLY psn 100 rtx ev !A
expect ev A ASSUMED_BAD
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
expect nothing for 500ms
expect stat timeouts 0
