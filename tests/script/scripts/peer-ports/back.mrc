# A plane that was left is probed on; when a probe is answered it carries its share again.
# REQ(ep.port.return) REQ(ep.port.peer-down)
config planes 2 evs 4 tail_probe 50us probe_interval 100us probe_interval_max 100us

< EP_REQUEST op port_status id 9 ports 0b01
> EP_RESPONSE op port_status id 9
> PROBE plane 1
+50us > PROBE plane 1
+50us > PROBE plane 1
+50us > PROBE plane 1
expect port 1 down of peer
+50us..100us > PROBE plane 1 probe P
+10us < SACK cack 99 probe P
expect port 1 up of peer
post write 8 bytes id 1..2
> WRITE ONLY psn 100 plane 0,1 ev A
> WRITE ONLY psn 101 plane 0,1 ev !A
post write 8 bytes id 3
> WRITE ONLY psn 102
< ACK msn 3
expect completion id 1..3 success
expect stat peer_ports_restored 1
