# Answers that are not to our request: from somebody else, with another stamp, another operation,
# another id. REQ(ep.probe.match)
config planes 1

+1ms request ev_probe id 5 timeout 1ms
> EP_REQUEST op ev_probe id 5
+10us < EP_RESPONSE op ev_probe id 5 from attacker
< EP_RESPONSE op ev_probe id 5 ts 4711
< EP_RESPONSE op port_status id 5
< EP_RESPONSE op ev_probe id 6
expect stat drop_ep_response 4
< EP_RESPONSE op ev_probe id 5
expect answer id 5 rtt 10us
