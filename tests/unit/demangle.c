/* demangle.c - C++ names as c++filt prints them, and names that are refused. */
#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* What gcc and clang made of templates, expressions, lambdas, operators; what c++filt 2.40 says. */
static const struct {
	const char *name, *text;
} known[] = {
	{ "_Z1hPDhDF16_PDF16b", "h(half*, _Float16, std::bfloat16_t*)" },
	{ "_Z2fpPFiczEPFPFvdEiEMN2ns1SEKFiiEMS6_iRA3_iPA2_A4_i",
	  "fp(int (*)(char, ...), void (*(*)(int))(double), int (ns::S::*)(int) const, int ns::S::*, int (&) [3], int (*) [2][4])" },
	{ "_Z2nePDoFvvEPFviE", "ne(void (*)() noexcept, void (*)(int))" },
	{ "_Z2pmIiEDTcmcmcmppfp_pp_fp_ntfp_cofp_ET_",
	  "decltype (((({parm#1}++),(++{parm#1})),(!{parm#1})),(~{parm#1})) pm<int>(int)" },
	{ "_Z2pmIiEDTcmcmcmppfp_ppfp_ntfp_cofp_ET_",
	  "decltype (((({parm#1}++),({parm#1}++)),(!{parm#1})),(~{parm#1})) pm<int>(int)" },
	{ "_Z2szIiEv1UIXplstT_Li1EEE", "void sz<int>(U<(sizeof (int))+(1)>)" },
	{ "_Z2ttI1WiEvPT_IT0_E", "void tt<W, int>(W<int>*)" },
	{ "_Z3addIiEDTplfp_fp0_ET_S1_", "decltype ({parm#1}+{parm#2}) add<int>(int, int)" },
	{ "_Z3cstIiEDTcvffp_ET_", "decltype ((float){parm#1}) cst<int>(int)" },
	{ "_Z3cvrPVKiPKPiOhxnbwDsDieDnCf",
	  "cvr(int const volatile*, int* const*, unsigned char&&, long long, __int128, bool, wchar_t, char16_t, char32_t, long double, decltype(nullptr), float _Complex)" },
	{ "_Z3idxIPiEDTixfp_Li0EET_", "decltype ({parm#1}[0]) idx<int*>(int*)" },
	{ "_Z3negIN2ns1SELin3EEv1IIXT0_EEPT_", "void neg<ns::S, -3>(I<-3>, ns::S*)" },
	{ "_Z3nexIiEvPDOeqstT_Li4EEFvS0_E",
	  "void nex<int>(void (*)(int) noexcept((sizeof (int))==(4)))" },
	{ "_Z3vecDv4_fPS_", "vec(float __vector(4), float __vector(4)*)" },
	{ "_Z4callIN2ns1SEEDTcmcldtfp_1fLi1EEdtfp_1mET_",
	  "decltype ((({parm#1}.f)(1)),({parm#1}.m)) call<ns::S>(ns::S)" },
	{ "_Z4castIiEDTscffp_ET_", "decltype (static_cast<float>({parm#1})) cast<int>(int)" },
	{ "_Z4declIiEDTltcl7declvalIT_EEcl7declvalIRS0_EEEv",
	  "decltype (((declval<int>)())<((declval<int&>)())) decl<int>()" },
	{ "_Z4declIiEDTltclsr3stdE7declvalIT_EEclsr3stdE7declvalIRS0_EEEv",
	  "decltype (((std::declval<int>)())<((std::declval<int&>)())) decl<int>()" },
	{ "_Z4foldIJiiiEEDTfrplfp_EDpT_",
	  "decltype (({parm#1}+...)) fold<int, int, int>(int, int, int)" },
	{ "_Z4newwIiEDTdeadfp_ET_", "decltype (*(&{parm#1})) neww<int>(int)" },
	{ "_Z4ternIiEDTqufp_fp_ngfp_ET_",
	  "decltype ({parm#1}?{parm#1} : (-{parm#1})) tern<int>(int)" },
	{ "_Z5applyIZ4mainEUlT_E_EvS0_",
	  "void apply<main::{lambda(auto:1)#1}>(main::{lambda(auto:1)#1})" },
	{ "_Z5applyIZ4mainEUliE0_EvT_",
	  "void apply<main::{lambda(int)#2}>(main::{lambda(int)#2})" },
	{ "_Z5applyIZZ4mainENK3$_2clEiN2ns1EEEUliE_EvT_",
	  "void apply<main::$_2::operator()(int, ns::E) const::{lambda(int)#1}>(main::$_2::operator()(int, ns::E) const::{lambda(int)#1})" },
	{ "_Z5applyIZZ4mainENKUliN2ns1EEE1_clEiS1_EUliE_EvT_",
	  "void apply<main::{lambda(int, ns::E)#3}::operator()(int, ns::E) const::{lambda(int)#1}>(main::{lambda(int, ns::E)#3}::operator()(int, ns::E) const::{lambda(int)#1})" },
	{ "_Z5arrowIPN2ns1SEEDtptfp_1mET_", "decltype ({parm#1}->m) arrow<ns::S*>(ns::S*)" },
	{ "_Z5countIJcsiEEiRAsZT__iDpT_",
	  "int count<char, short, int>(int (&) [3], char, short, int)" },
	{ "_Z5foldlIJiiEEDTfLmlLi0Efp_EDpT_",
	  "decltype (((0)*...*{parm#1})) foldl<int, int>(int, int)" },
	{ "_ZN1WIiE1mIfEEvT_i", "void W<int>::m<float>(float, int)" },
	{ "_ZN2ns1SC1IJRS0_EEEDpOT_", "ns::S::S<ns::S&>(ns::S&)" },
	{ "_ZN2ns1SC1IJiEEEDpOT_", "ns::S::S<int>(int&&)" },
	{ "_ZN2ns1kIDF16bLi4EEEvPT_DF64x",
	  "void ns::k<std::bfloat16_t, 4>(std::bfloat16_t*, _Float64x)" },
	{ "_ZZ4mainENK3$_2clEiN2ns1EE", "main::$_2::operator()(int, ns::E) const" },
	{ "_ZZ4mainENKUlT_E_clIiEEDaS_",
	  "auto main::{lambda(auto:1)#1}::operator()<int>(int) const" },
	{ "_ZZ4mainENKUliN2ns1EEE1_clEiS0_",
	  "main::{lambda(int, ns::E)#3}::operator()(int, ns::E) const" },
	{ "_ZZ4mainENUliE0_clEi", "main::{lambda(int)#2}::operator()(int)" },
	{ "_ZZZ4mainENK3$_2clEiN2ns1EEEN1L1qEv",
	  "main::$_2::operator()(int, ns::E) const::L::q()" },
	{ "_ZZZ4mainENK3$_2clEiN2ns1EEENKUliE_clEi",
	  "main::$_2::operator()(int, ns::E) const::{lambda(int)#1}::operator()(int) const" },
	{ "_ZZZ4mainENKUliN2ns1EEE1_clEiS0_EN1L1qEv",
	  "main::{lambda(int, ns::E)#3}::operator()(int, ns::E) const::L::q()" },
	{ "_ZZZ4mainENKUliN2ns1EEE1_clEiS0_ENKUliE_clEi",
	  "main::{lambda(int, ns::E)#3}::operator()(int, ns::E) const::{lambda(int)#1}::operator()(int) const" },
	{ "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELb0EEEvPT0_PT_Pf",
	  "void aiter::add_rmsnorm_quant_kernel<std::bfloat16_t, std::bfloat16_t, 64, false>(std::bfloat16_t*, std::bfloat16_t*, float*)" },
	{ "_ZNSt5dequeIiSaIiEE16_M_push_back_auxIJiEEEvDpOT_",
	  "void std::deque<int, std::allocator<int> >::_M_push_back_aux<int>(int&&)" },
	{ "_ZNSspLEc",
	  "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::operator+=(char)" },
	{ "_ZNKSi6sentrycvbEv",
	  "std::basic_istream<char, std::char_traits<char> >::sentry::operator bool() const" },
	{ "_ZTIN5arrow2fs19kS3FileSystemModuleMUlvE_E",
	  "typeinfo for arrow::fs::kS3FileSystemModule::{lambda()#1}" },
	{ "_ZN6icu_726number4impl10MicroPropsUt_D1Ev",
	  "icu_72::number::impl::MicroProps::{unnamed type#1}::~MicroProps()" },
	{ "_Z11AfterColourB5cxx11", "AfterColour[abi:cxx11]" },
	{ "_ZTIPFvvE", "typeinfo for void (*)()" },
	{ "_ZTv0_n24_NSdD0Ev",
	  "virtual thunk to std::basic_iostream<char, std::char_traits<char> >::~basic_iostream()" },
	{ "_ZThn16_NSdD0Ev",
	  "non-virtual thunk to std::basic_iostream<char, std::char_traits<char> >::~basic_iostream()" },
	{ "_ZTVSd", "vtable for std::basic_iostream<char, std::char_traits<char> >" },
	{ "_ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv",
	  "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::str() const &" },
	{ "_ZTIN4llvm15BitIntegerStateIjLj511ELj0EEE",
	  "typeinfo for llvm::BitIntegerState<unsigned int, 511u, 0u>" },
	{ "_Z5scaleIdEvPT_S0_i.kdt", "void scale<double>(double*, double, int) [clone .kdt]" },
	{ "_ZN2at6native12_GLOBAL__N_113renorm_kernelIddKiEEvPT_PT1_T0_S8_lllPKl",
	  "void at::native::(anonymous namespace)::renorm_kernel<double, double, int const>(double*, int const*, double, double, long, long, long, long const*)" },
	{ "_Znwm", "operator new(unsigned long)" },
	{ "_ZNSsixEm",
	  "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::operator[](unsigned long)" },
	{ "_ZSt4cout", "std::cout" },
	{ "_ZN1AcvT_IiEEv", "A::operator int<int>()" },
	{ "_ZN1A1BIXadL_Z1fvEEEC1Ev", "A::B<&(f())>::B()" },
	{ "_ZGVZ1fvE1x", "guard variable for f()::x" },
	{ "_ZTC1A0_1B", "construction vtable for B-in-A" },
	{ "_ZNO1A1gEv", "A::g() &&" },
	{ "_ZDC1a1bE", "[a, b]" },
	{ "_ZN1fILfc2040000EEEvv", "void f<(float)[c2040000]>()" },
};

TEST(names_of_two_compilers_are_printed_as_cxxfilt_prints_them)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		rk_bytes_clear(&out);
		CHECK(rk_demangle(known[i].name, &out));
		CHECK_STR(rk_bytes_str(&out), known[i].text);
	}
	rk_bytes_release(&out);
}

TEST(text_is_added_after_what_is_there)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 100);
	rk_bytes_puts(&out, "kernel ");
	CHECK(rk_demangle("_Z1fi", &out));
	CHECK_STR(rk_bytes_str(&out), "kernel f(int)");
	CHECK(rk_demangle("_Z1x", &out)); /* a variable */
	CHECK_STR(rk_bytes_str(&out), "kernel f(int)x");
	rk_bytes_release(&out);
}

TEST(a_name_cut_anywhere_is_shown_or_refused_and_leaves_nothing_behind)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		for (size_t len = strlen(known[i].name); len-- > 0;) {
			char *cut = strndup(known[i].name, len);

			rk_bytes_clear(&out);
			CHECK(rk_demangle(cut, &out) || (out.len == 0 && !out.bad));
			free(cut);
		}
	}
	rk_bytes_release(&out);
}

TEST(what_is_no_mangled_name_is_refused)
{
	static const char *const bad[] = {
		"",
		"_",
		"_Z",
		"f",
		"_ZN",
		"_Z1",
		"_Z0",
		"_Z99f",
		"_Z4294967297f",
		"_Z1fS_",
		"_Z1fT_v",
		"_ZN1aC1",
		"_Z1fIi",
		"_Z1fDF17b",
		"_Z1fA",
		"_Z1fD",
		"_Z4declIiEDTltclsr2sT1AcvT_I1AD",
		"_Z1fM",
		"_Z1fDv",
		"_ZTh",
		"_ZGR",
		"_Z1fU",
		"_ZZ1fvE_",
		"_Z1fL",
		"_Z1fILiEEvv",
		"_Z1fv.",
		"_Z1fvX",
		"_Z_",
		"_ZS",
		"_ZSt",
		"_Z1fSZZZZZZZ_",
	};
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK(!rk_demangle(bad[i], &out));
		CHECK_U64(out.len, 0);
	}
	rk_bytes_release(&out);
}

/* "_Z", `before`, `part` n times, `after`: is it shown? */
static bool repeats(const char *before, const char *part, unsigned n, const char *after)
{
	struct rk_bytes name, out;
	bool ok;

	rk_bytes_init(&name, 1 << 20);
	rk_bytes_init(&out, 1 << 20);
	rk_bytes_printf(&name, "_Z%s", before);
	while (n--)
		rk_bytes_puts(&name, part);
	rk_bytes_puts(&name, after);
	ok = rk_demangle(rk_bytes_str(&name), &out);
	rk_bytes_release(&name);
	rk_bytes_release(&out);
	return ok;
}

TEST(parts_in_each_other_and_qualifiers_are_not_followed_without_end)
{
	CHECK(repeats("", "Z1aE", 300, "1b"));
	CHECK(!repeats("", "Z1aE", 500, "1b"));
	CHECK(!repeats("", "Z1aE", 8000, "1b"));
	CHECK(repeats("N", "K", 300, "1aEv"));
	CHECK(!repeats("N", "K", 1000, "1aEv"));
	CHECK(!repeats("N", "K", 32000, "1aEv"));
}

TEST(a_buffer_that_is_too_small_is_left_as_it_was)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 10);
	rk_bytes_puts(&out, "abc");
	CHECK(!rk_demangle("_ZN5aiter24add_rmsnorm_quant_kernelEv", &out));
	CHECK_U64(out.len, 3);
	CHECK(!out.bad);
	rk_bytes_release(&out);
}
