; and after
@g.lo = i32, addrspace(1) !dbg.def !2
@g.hi = i32, addrspace(1) !dbg.def !3

!llvm.dbg.cu = !{!0}
!llvm.dbg.retainedNodes = !{!4}
!0 = !DICompileUnit(..., globals: !{!1})
!1 = !DIGlobalVariable("g")
!2 = distinct !DIFragment()
!3 = distinct !DIFragment()
!4 = distinct !DILifetime(
    object: !1,
    location: !DIExpr(
        DIOpArg(0, ptr addrspace(1)), DIDeref(i32),
        DIOpArg(1, ptr addrspace(1)), DIDeref(i32),
        DIOpComposite(2, i64)
    ),
    argObjects: {!2, !3}
  )
