; "Global Variable Broken Into Two Scalars", before
@g = i64, addrspace(1) !dbg.def !2

!llvm.dbg.cu = !{!0}
!llvm.dbg.retainedNodes = !{!3}
!0 = !DICompileUnit(..., globals: !{!1})
!1 = !DIGlobalVariable("g")
!2 = distinct DIFragment()
!3 = distinct !DILifetime(
    object: !1,
    location: !DIExpr(DIOpArg(0, ptr addrspace(1)), DIDeref(i64)),
    argObjects: {!2}
  )
