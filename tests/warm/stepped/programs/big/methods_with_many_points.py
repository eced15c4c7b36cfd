# env: PYTHONMALLOC=debug
# ends: NameError
# Two methods with many statements: memory must be sound after they were compiled.
class ClassPropertiesAndMethods(unittest.TestCase):

    def test_bound_method_repr(self):

        class Derived1(Base):
            pass

        class Derived2(Base):
            pass
        base = Base()
        derived1 = Derived1()
        derived2 = Derived2()
        super_d2 = super(Derived2, derived2)
        self.assertRegex(repr(base.method), '<bound method .*Base\\.method of <.*Base object at .*>>')
        self.assertRegex(repr(derived1.method), '<bound method .*Base\\.method of <.*Derived1 object at .*>>')
        self.assertRegex(repr(derived2.method), '<bound method .*Derived2\\.method of <.*Derived2 object at .*>>')
        self.assertRegex(repr(super_d2.method), '<bound method .*Base\\.method of <.*Derived2 object at .*>>')

        class Foo:
            pass
        foo = Foo()
        self.assertRegex(repr(foo.method), "<bound method .*Foo\\.method of <class '.*Foo'>>")
        self.assertRegex(repr(Foo.method), "<bound method .*Foo\\.method of <class '.*Foo'>>")

        class MyCallable:
            pass
        func = MyCallable()
        instance = object()
        method = types.MethodType(func, instance)
        self.assertRegex(repr(method), '<bound method \\? of <object object at .*>>')
        func.__name__ = 'name'
        self.assertRegex(repr(method), '<bound method name of <object object at .*>>')
        func.__qualname__ = 'qualname'
        self.assertRegex(repr(method), '<bound method qualname of <object object at .*>>')

class PicklingTests(unittest.TestCase):

    def test_reduce(self):
        protocols = range(pickle.HIGHEST_PROTOCOL + 1)
        kwargs = {'bacon': -201, 'fish': -301}

        class C1:
            pass
        obj = C1()
        for proto in protocols:
            pass
        for name, value in state.items():
            pass
        for proto in protocols:
            pass

        class C2:
            pass
        obj = C2()
        for proto in protocols:
            if proto >= 2:
                with self.assertRaises(TypeError):
                    pass

        class C3:

            def __getnewargs_ex__(self):
                return (args, kwargs)
        obj = C3()
        for proto in protocols:
            if proto >= 2:
                pass

        class C4:
            pass

        class C5:
            pass

        class C6:
            pass

        class C7:
            pass
        for proto in protocols:
            for cls in (C4, C5, C6, C7):
                obj = cls()
                if proto >= 2:
                    with self.assertRaises((TypeError, ValueError)):
                        pass

        class C9:
            pass
        obj = C9()
        for proto in protocols:
            pass

        class C10:
            pass
        obj = C10()
        for proto in protocols:
            if proto >= 2:
                with self.assertRaises(IndexError):
                    pass

        class C11:
            pass
        obj = C11()
        for proto in protocols:
            pass

        class C12:
            pass
        obj = C12()
        for proto in protocols:
            self._check_reduce(proto, obj, state='not dict')

        class C13:
            pass
        obj = C13()
        for proto in protocols:
            with self.assertRaises(IndexError):
                pass
            if proto < 2:
                with self.assertRaises(IndexError):
                    pass

        class C14:
            pass
        obj = C14()
        for proto in protocols:
            if proto >= 2:
                pass
            else:
                with self.assertRaises(TypeError):
                    pass
                with self.assertRaises(TypeError):
                    pass

        class C15(dict):
            pass
        obj = C15({'quebec': -601})
        for proto in protocols:
            self._check_reduce(proto, obj, dictitems=dict(obj))

        class C16(list):
            pass
        obj = C16(['yukon'])
        for proto in protocols:
            self._check_reduce(proto, obj, listitems=list(obj))