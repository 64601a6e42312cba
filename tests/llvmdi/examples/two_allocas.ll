; "Local Variable In Alloca Broken Into Two allocas", before the implicit address is cancelled
%x.lo.addr = alloca i32, addrspace(5)
call void @llvm.dbg.def(metadata !4, metadata ptr addrspace(5) %x.lo.addr)
...
%x.hi.addr = alloca i32, addrspace(5)
call void @llvm.dbg.def(metadata !6, metadata ptr addrspace(5) %x.hi.addr)
...
call void @llvm.dbg.kill(metadata !6)
call void @llvm.dbg.kill(metadata !4)
ret void

!1 = !DILocalVariable("x", ...)
!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpArg(0, i32), DIOpArg(1, i32), DIOpComposite(2, i64), DIOpAddrOf(5), DIOpDeref(i64)), argObjects: {!3, !5})
!3 = distinct !DIFragment()
!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(i32)))
!5 = distinct !DIFragment()
!6 = distinct !DILifetime(object: !5, location: !DIExpr(DIOpReferrer(ptr addrspace(5)), DIOpDeref(i32)))
