# Only the word of a QP's own peer counts. REQ(ep.port.suspicion)
config planes 2 evs 4

< EP_REQUEST op port_status id 9 ports 0b01 from attacker
> EP_RESPONSE op port_status id 9
expect nothing for 100us
