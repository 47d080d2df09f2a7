# Trigger 5: a reliability probe: pr is set, the id comes back. A probe uses no PSN. The transport ACK
# is repeated too, once there is something to acknowledge.
# REQ(rsp.sack.trigger.probe) REQ(wire.seth.probe-id) REQ(req.probe.no-psn) REQ(wire.seth.pr)
config planes 2

< PROBE probe 5 ev 7 plane 1
> SACK cack 99 map 0 probe 5 ev 7 ts echo mark none
< WRITE ONLY psn 100 len 4
> ACK msn 1
< PROBE probe 6 ce
> SACK cack 100 map 0 probe 6 mark skip_once
> ACK msn 1
expect stat rx_probes 2
