"""Words that end with a full stop without ending a sentence, by language.

Written for posts, articles and newsletters. Each word stands without its last full stop, in
lower case, with inner full stops and without inner spaces: `z. B.` is `z.b`. A word that is
missing costs a false sentence end only where the segmenter has not learnt it either.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

__all__ = ["Vocabulary", "vocabulary"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the rules need to know of one language."""

    titles: frozenset[str]
    """A name follows: never the end of a sentence."""
    never: frozenset[str]
    """Something follows, with a capital or not: never the end of a sentence."""
    lower: frozenset[str]
    """No end before a lower-case letter or a digit."""
    suffixes: frozenset[str]
    """Often the last word, often not: an end only before one of `starters`."""
    starters: frozenset[str]
    """Words, capitalised, that seldom follow within a sentence."""
    parts: frozenset[str]
    """What may stand before the last part of a spaced abbreviation: the `z` of `z. B.`"""
    ordinals: bool
    """Whether `3.` is read as "third"."""


_TITLES = {
    "*": "dr prof",
    "en": "mr mrs ms mx messrs rev hon gen col sgt cpl capt cmdr lt maj adm gov sen rep pres supt "
    "insp fr mt ft",
    "de": "hr hrn fr frl dipl ing dipl.-ing mag jr st med phil jur rer nat h.c priv.-doz pd",
    "fr": "m mm mme mmes mlle mlles me mgr ste st pr",
    "es": "sr sra sres srta srtas dra dña d da ud uds vd lic ing arq gral cap fco sta sto",
    "it": "sig sigg sig.ra sig.na dott dott.ssa ing avv arch geom rag on mons prof.ssa egr gent",
    "pt": "sr sra srta srs dra exmo exma d ilmo eng profa",
    "nl": "dhr mw mevr drs ir ing mr st",
    "pl": "mgr inż hab św ks gen płk p red",
    "ru": "г-н г-жа акад проф гр им",
    "uk": "п акад проф ім",
    "sv": "hr fr",
    "da": "hr fr",
    "no": "hr fr",
    "cs": "ing mgr bc mudr judr phdr doc sv",
    "tr": "av doç sn yrd",
    "el": "κ κα δρ καθ",
}

_NEVER = {
    "*": "e.g i.e cf vs viz p.s p.p.s n.b",
    "en": "eg ie incl approx aka a.k.a",
    "de": "z.b d.h i.d.r m.a.w m.e o.ä s.o s.u u.u v.a z.t zzgl ca bzw vgl inkl exkl evtl ggf "
    "bspw sog gem u.a",
    "fr": "p.ex c.-à-d n°",
    "es": "p.ej ej aprox núm nº pág págs ee",
    "it": "es p.es cfr pag pagg nn ca",
    "pt": "p.ex ex aprox pág págs núm nº",
    "nl": "bijv bv o.a d.w.z m.b.t i.p.v t.o.v ca nr blz incl excl resp t.a.v evt m.n",
    "pl": "np tzn tj m.in ul al tzw pt",
    "ru": "т.е т.н т.к ул рис стр табл см ср напр",
    "uk": "т.зв вул рис стор табл див напр",
    "sv": "t.ex bl.a d.v.s dvs ca s.k f.d jfr",
    "da": "f.eks bl.a dvs ca pga mht ifm",
    "no": "f.eks bl.a dvs ca pga mht ifm",
    "cs": "např tzn tj tzv cca resp",
    "fi": "esim ks ns ts eli.n",
    "tr": "örn bkz",
    "el": "π.χ δηλ βλ",
    "hu": "pl ill vö ún",
    "ro": "ex",
}

_LOWER = {
    "*": "etc al ed eds min max tel no nr vol fig figs art pp p inc ltd co corp univ",
    "en": "dept est ext app appx ch eq eqs nos vols sec secs hr hrs wk wks mo mos yr yrs ft oz lb "
    "lbs mi sq gal tbsp tsp misc orig prev temp avg assn assoc bros mfg dist div univ natl "
    "intl govt acct addr alt attn attr bldg blvd ave rd hwy apt ste jan feb mar apr jun jul "
    "aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun para ref refs pt pts qty "
    "rev ver ph ca",
    "de": "usw u.s.w ff f s nrn abs kap abb bd bde hrsg mind str v.chr n.chr abschn std sek mio "
    "mrd tsd jan feb mrz apr jun jul aug sep sept okt nov dez di co jh jhd st stk geb gest "
    "verh led ehem gegr betr bes allg engl franz dt österr urspr vers wiss a.d a.m i.a i.v "
    "jew monatl jährl öffentl techn durchschn lt z.zt",
    "fr": "sec h env chap éd tél av bd janv févr avr juil sept oct nov déc hab ex suiv boul st",
    "es": "cap av avda seg hab ene feb mar abr may jun jul ago set sept oct nov dic a.c d.c apdo "
    "dpto máx mín prov s.a cía",
    "it": "ecc cap sec gen feb mar apr mag giu lug ago set ott nov dic a.c d.c s.p.a spa n",
    "pt": "cap av seg hab jan fev mar abr mai jun jul ago set out nov dez a.c d.c s.a cia máx",
    "nl": "enz sec jan feb mrt apr jun jul aug sep sept okt nov dec m.a.w a.u.b afd",
    "pl": "ok str rys tab wg ww zob por itd itp godz sek zł gr mln mld tys r w wiek św lek dn ds "
    "jw",
    "ru": "т.д т.п г гг в вв руб коп тыс млн млрд мин сек ч чел шт п пп изд н.э до.н.э проц тел "
    "кв д",
    "uk": "т.д т.п ін р рр ст грн коп тис млн млрд хв год чол шт н.е тел",
    "sv": "osv m.m m.fl st kap sid kl sek kr milj mdr jan feb mars apr aug sept okt nov dec",
    "da": "osv m.m m.fl mfl kap s kl sek kr mio mia tlf jf jan feb mar apr aug sept okt nov dec",
    "no": "osv m.m m.fl mfl kap s kl sek kr mill mrd tlf jf jan feb mar apr aug sept okt nov des",
    "cs": "atd apod aj hod sek kč tis mil mld r stol n.l př č čl obr str tab ul kap mj",
    "fi": "jne yms ym sek tunt milj mrd v mm n s puh klo",
    "tr": "vb vs dk sn yy m.ö m.s cad sok mah",
    "el": "κ.λπ κλπ κ.ά μ.χ π.μ μ.μ εκ δισ σελ αρ τηλ εικ",
    "hu": "stb kb mp évf",
    "ro": "sec mil mld str pag",
}

_SUFFIXES = {
    "*": "inc ltd corp llc plc",
    "en": "co bros jr sr st ave blvd rd ph.d m.d b.a m.a b.sc m.sc a.m p.m",
    "de": "co jr sen jun",
    "es": "ee.uu s.a",
    "fr": "s.a",
    "it": "s.p.a s.r.l",
    "pt": "ltda s.a",
}

_STARTERS = {
    "en": "He She It They We You This That These Those The There Then Here But And So Or Yet Now "
    "Not Yes If When While What Why How Who Where Which Our My Your His Her Its Their After "
    "Before Since Because Although Though However Meanwhile Still Also As At By For From In "
    "On With To Some Most Many All Both Each Every Nobody Everyone Everybody Somebody "
    "Nothing Everything Let Please Thanks Thank Today Tomorrow Yesterday Later Soon Next "
    "First Second Finally I A An Did Do Does Is Are Was Were Have Has Had Can Could Would "
    "Should",
    "de": "Der Die Das Den Dem Des Ein Eine Einen Einem Einer Er Sie Es Wir Ihr Ich Du Man Dann "
    "Da Danach Hier Dort Doch Aber Und Oder Denn Wenn Weil Als Ob Obwohl Während In Im Am "
    "An Auf Aus Bei Beim Mit Nach Seit Von Vom Vor Zu Zum Zur Für Ohne Um Über Unter So "
    "Auch Nur Noch Nun Jetzt Heute Morgen Gestern Was Wer Wie Wo Warum Wann Welche Welcher "
    "Dieser Diese Dieses Mein Meine Unser Unsere Sein Seine Kein Keine Alle Viele Manche "
    "Jeder Jede Nicht Nichts Ja Nein Danke Bitte",
    "fr": "Le La Les L Un Une Des Il Elle Ils Elles On Nous Vous Je Tu Ce Cette Ces C Mais Et "
    "Puis Dans En Pour Avec Sans Si Quand Comme Après Avant Depuis Mon Ma Notre Nos Votre "
    "Leur Qui Que Pourquoi Comment Tout Tous Rien Merci",
    "es": "El La Los Las Un Una Él Ella Ellos Ellas Yo Nosotros Usted Este Esta Esto Estos Pero Y "
    "O En Con Sin Para Por Si Cuando Como Después Antes Desde Mi Nuestro Nuestra Su Sus Qué "
    "Quién Todo Todos Nada Gracias No Sí",
    "it": "Il Lo La I Gli Le Un Una Io Lui Lei Noi Voi Loro Questo Questa Ma E O In Con Senza Per "
    "Se Quando Come Dopo Prima Da Mio Nostro Suo Chi Che Perché Tutto Tutti Niente Grazie "
    "Non Sì",
    "pt": "O A Os As Um Uma Ele Ela Eles Elas Eu Nós Você Este Esta Isso Isto Mas E Ou Em No Na "
    "Com Sem Para Por Se Quando Como Depois Antes Desde Meu Nosso Nossa Seu Quem Que Tudo "
    "Todos Nada Obrigado Não Sim",
    "nl": "De Het Een Hij Zij Ze Wij We Jij Je Ik Dit Dat Deze Die Maar En Of In Op Met Zonder "
    "Voor Als Toen Dan Daar Hier Na Sinds Mijn Onze Ons Zijn Haar Wie Wat Waarom Hoe Alles "
    "Alle Niets Niet Geen Ook Nog Nu Vandaag Morgen Gisteren Bedankt",
}

_ORDINALS = frozenset(
    {"cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "no", "sk", "sl", "sr"}
)

# Codes that share a table with another.
_SAME = {"nb": "no", "nn": "no", "gsw": "de", "lb": "de", "gl": "pt", "ca": "es", "sk": "cs"}


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of `language`, a primary language code; those of all languages where unknown."""
    code = _SAME.get(language, language)

    def words(table: dict[str, str]) -> frozenset[str]:
        return frozenset(f"{table.get('*', '')} {table.get(code, '')}".split())

    titles, never, lower = words(_TITLES), words(_NEVER), words(_LOWER)
    suffixes = words(_SUFFIXES)
    return Vocabulary(
        titles=titles,
        never=never,
        lower=lower,
        suffixes=suffixes,
        starters=words(_STARTERS),
        parts=frozenset(
            word[:position]
            for word in never | lower | suffixes
            for position, character in enumerate(word)
            if character == "."
        ),
        ordinals=code in _ORDINALS,
    )
