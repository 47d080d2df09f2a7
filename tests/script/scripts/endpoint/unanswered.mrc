# No answer within the time-out. The id rests for as long as a late answer could still arrive; one that
# comes then is dropped. REQ(ep.probe.id-reuse) REQ(ep.probe.match)
config ep_rest 5ms

request ev_probe id 5 ev 2 timeout 1ms
> EP_REQUEST op ev_probe id 5
request ev_probe id 5 ev 3 fails exists
+1ms expect no_answer id 5
+1ms < EP_RESPONSE op ev_probe id 5
expect stat drop_ep_response 1
request ev_probe id 5 ev 3 fails exists
+5ms request ev_probe id 5 ev 3
> EP_REQUEST op ev_probe id 5 ev 3
+1us < EP_RESPONSE op ev_probe id 5
expect answer id 5 rtt 1us
