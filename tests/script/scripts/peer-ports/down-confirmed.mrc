# The peer says that its port 1 is down. Its word is only a reason to look: the plane is probed at once
# and left when three probes stay unanswered. Nothing is held against its EVs.
# REQ(ep.port.peer-down) REQ(ep.port.suspicion) REQ(ep.probe.answer)
config planes 2 evs 4 tail_probe 50us probe_interval 100us probe_interval_max 400us

< EP_REQUEST op port_status id 9 ports 0b01
> EP_RESPONSE op port_status id 9
> PROBE plane 1
post write 8 bytes id 1..2                              # suspect, but in use
> WRITE ONLY psn 100..101
< ACK msn 2
expect completion id 1..2 success
+50us > PROBE plane 1
+50us > PROBE plane 1
expect no_event
+50us > PROBE plane 1
expect port 1 down of peer
post write 8 bytes id 3..6
> WRITE ONLY psn 102..105 plane 0
< ACK msn 6
expect completion id 3..6 success
expect info evs_bad 0
