# A PSN beyond the window [ePSN, ePSN + 128): NACK psn_oor_window, nothing placed, nothing moved.
# REQ(rsp.window.ahead) REQ(rsp.window.range)
config mpr_dest 1

< WRITE ONLY psn 227 msn 127 len 4
expect placed 4 at 130048
< WRITE ONLY psn 228 msn 128 len 4 ev 6
> NACK psn 228 reason psn_oor_window ev 6 ts echo
expect placed nothing
< WRITE ONLY psn 100 msn 0 len 4
> ACK msn 1
expect placed 4 at 0
< WRITE ONLY psn 228 msn 128 len 4                   # the window has moved on by one
expect placed 4 at 131072
expect stat drop_far_psn 1
