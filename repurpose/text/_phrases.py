"""Phrases that give a model orders, in the languages such text is met in.

Each rule is what the phrase begins with and a pattern of the whole phrase, over text in small
letters. Patterns have no unbounded repeat, so each try costs a fixed amount at most. They are
narrow on purpose: an article may say "ignore", "prompt" or "as an assistant" and mean no harm.
The file is a table, so its length is that of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to give orders."""

    openers: tuple[str, ...]
    """What a phrase begins with; one of these stands in a text that has the phrase."""
    pattern: re.Pattern[str]
    """The phrase from its beginning on."""


_GAP = r"[\s*_\"'“”«»>,.()-]{1,6}"  # between words, markup and line breaks included


def _words(*alternatives: str) -> str:
    """One of these words, and what stands behind it."""
    return rf"(?:{'|'.join(alternatives)}){_GAP}"


def _rule(openers: str, rest: str, *, spaced: bool = True) -> Rule:
    """A rule whose openers are parted by `|`; `rest` follows any of them.

    `~` in `rest` is a gap between words. Scripts without spaces have no word borders either.
    """
    names = tuple(openers.split("|"))
    border, end = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
    head = "|".join(re.escape(one) for one in names)
    # A gap may hold underscores, so words may not: else there were many ways to part the two.
    rest = rest.replace("~", _GAP).replace(r"\w", r"[^\W_]")
    return Rule(names, re.compile(f"{border}(?:{head}){rest}{end}"))


def _english() -> Iterator[Rule]:
    some = _words(
        "all", "any", "of", "the", "these", "those", "your", "my", "our", "other", "every", "that",
        "such", "and", "or", "previously", "given", "follow",
    )  # fmt: skip
    before = "previous|prior|above|earlier|preceding|foregoing|existing|original|initial|former"
    orders = (
        "instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|orders|"
        "messages?|context|conversation|tasks?"
    )
    dismiss = "ignore|disregard|forget|override|bypass|overrule|discard"
    yield _rule(
        dismiss, rf"~(?:{some}){{0,5}}(?:{_words(before)}){{1,3}}(?:\w{{2,12}}~)?(?:{orders})"
    )
    yield _rule(
        dismiss,
        rf"~(?:{some}){{0,5}}(?:system~|safety~)?(?:instructions|prompts?|guidelines|directives)~"
        r"(?:above|before|so~far|you~(?:were|have|received)|(?:that~)?came~before|from~before)",
    )
    yield _rule(
        dismiss,
        r"~(?:(?:all|any)~(?:of~)?)?(?:your|my~previous|all|any)~(?:system~|safety~|own~)?"
        r"(?:instructions|prompts?|guidelines|directives|programming|training)",
    )
    yield _rule(
        dismiss,
        r"~(?:everything|anything|all)~(?:of~the~)?(?:(?:that~|which~)?(?:is~|was~|came~|written~)?"
        r"(?:above|before~this|previously)|you~(?:were|have~been|know~about~your)(?:~told)?)",
    )
    yield _rule("disregard|ignore", r"~(?:all~of~)?the~above~and")
    machine = (
        r"(?:an?~|the~|my~)?(?:\w{1,14}~){0,3}(?:ai|a\.i|assistant|chatbot|bot|llm|language~model|"
        r"chatgpt|dan|jailbroken|unrestricted|unfiltered|(?:developer|debug|god|admin)~mode)"
    )
    yield _rule("you are now|you're now|you are no longer", f"~(?:in~)?{machine}")
    yield _rule("from now on", r"~you~(?:are~an?|must|will~only|only|act~as|respond|answer|reply)")
    yield _rule("act as|pretend", rf"~(?:(?:that~)?you~are~|to~be~|if~you~(?:are|were)~)?{machine}")
    yield _rule("system prompt|system-prompt", "s?")
    yield _rule("new|updated|revised", "~(?:system~)?instructions~(?:follow|below)")
    yield _rule(
        "new|updated|revised|important", r"~(?:system~)?instructions?\s{0,3}:", spaced=False
    )
    reader = r"(?:ai|llms?|(?:large~)?language~models?|chatbots?|chatgpt|summari[sz]er|ai~\w{2,12})"
    yield _rule(
        "note|message|instructions|instruction", rf"~(?:to|for)~(?:the~|any~|all~)?{reader}"
    )
    yield _rule("dear|attention", rf"~{reader}\b[\s,:!]", spaced=False)
    yield _rule(
        "if you are|if you're", r"~an?~(?:large~)?(?:ai|llm|language~model|chatbot|ai~\w{2,12})"
    )
    yield _rule(
        "do not|don't|never",
        r"~(?:ever~)?(?:tell|reveal|mention|disclose|inform|show|repeat)~(?:\w{1,12}~){0,5}"
        r"(?:(?:to~)?(?:the~)?(?:users?|human)|(?:these|this|your|the)~(?:system~)?"
        r"(?:instructions?|prompt))",
    )
    yield _rule(
        "reveal|print|show|repeat|output|leak|display",
        r"~(?:me~|us~)?(?:your~|the~system~|the~hidden~|the~initial~|the~original~)"
        r"(?:system~|initial~|hidden~|original~|secret~|full~)?(?:prompt|instructions)",
    )
    yield _rule(
        "as an ai", r"(?:~(?:language~)?(?:model|assistant|system|agent|chatbot)|,)", spaced=False
    )
    yield _rule(
        "respond|reply|answer",
        r"~(?:(?:only|exclusively|just|solely)~(?:with|in)|with~(?:only|exactly|nothing~but))",
    )
    yield _rule(
        "your", r"~(?:new|real|actual|true|only)~(?:task|instructions?|objective)~(?:is|are)"
    )
    yield _rule(
        "end of",
        r"~(?:the~)?(?:source[\s_-]{1,3}(?:material|text|document)|system~(?:prompt|message)|"
        r"user~(?:input|message)|untrusted~\w{2,12}|previous[\s_-]{1,3}answer|instructions)",
    )
    yield _rule("do anything now", "")


def _german() -> Iterator[Rule]:
    orders = r"(?:anweisung|instruktion|befehl|regel|vorgabe|prompt|aufforderung|nachricht)\w{0,3}"
    before = r"(?:vorherig|bisherig|vorig|obig|früher|vorangegangen|vorangehend|vorstehend)e[nr]?"
    dismiss = "ignoriere|ignorieren sie|ignorier|vergiss|vergessen sie|missachte|missachten sie"
    yield _rule(dismiss, rf"~(?:(?:alle|die|deine|ihre|sämtliche|diese)~){{0,3}}{before}~{orders}")
    yield _rule(
        dismiss, r"~alles?~(?:bisherige|vorherige|obige|davor|was~(?:davor|zuvor|oben|vorher))"
    )
    yield _rule(
        "du bist|sie sind",
        r"~(?:jetzt|nun|ab~sofort|von~nun~an)~(?:ein(?:e|en)?~)?(?:\w{2,14}~){0,2}"
        r"(?:ki|assistent|assistentin|sprachmodell|chatbot|bot)",
    )
    yield _rule("neue", r"~(?:anweisung|instruktion)(?:en)?\s{0,3}:", spaced=False)
    yield _rule("systemprompt|system-prompt", "s?")
    yield _rule("antworte|antworten sie", r"~(?:nur|ausschließlich)~(?:noch~)?(?:mit|auf)")
    yield _rule("als ki|als ein ki|als eine ki|als", r"(?:~|-)?(?:~?ki-?)?sprachmodell")
    yield _rule(
        "verrate|verraten sie|sage|sag|sagen sie|erwähne|erwähnen sie",
        r"~(?:es~|dies~|das~)?(?:dem|der|den|gegenüber~dem)~(?:be)?nutzer\w{0,4}~(?:\w{2,12}~){0,3}nicht",
    )
    yield _rule(
        "ende des|ende der", r"~(?:quell(?:en)?(?:materials?|textes|dokuments)|ausgangsmaterials)"
    )


def _french() -> Iterator[Rule]:
    orders = "(?:instructions?|consignes?|directives?|règles?|ordres?|messages?)"
    before = "(?:précédente?s?|antérieure?s?|ci-dessus|initiales?|d'avant|données)"
    yield _rule(
        "ignore|ignorez|ignorer|oublie|oubliez|ne tiens pas compte|ne tenez pas compte",
        rf"~(?:(?:toutes?|tous|de|des|les|tes|vos|ces)~){{0,4}}{orders}~{before}",
    )
    yield _rule("ignore|ignorez|oublie|oubliez", "~tout~ce~qui~(?:précède|est~au-dessus)")
    yield _rule(
        "tu es|vous êtes",
        r"~(?:désormais|maintenant|dorénavant)~(?:une?~)?(?:\w{2,14}~){0,2}"
        r"(?:ia|assistante?|modèle~de~langage|chatbot|robot)",
    )
    yield _rule("nouvelles|nouvelle", r"~(?:instruction|consigne)s?\s{0,3}:", spaced=False)
    yield _rule("prompt|invite", "~(?:du~)?système")
    yield _rule("réponds|répondez", "~(?:uniquement|seulement|exclusivement)~(?:par|avec|en)")
    yield _rule(
        "en tant qu",
        "['’](?:une?~)?(?:ia|intelligence~artificielle|modèle~de~langage)|e~modèle~de~langage",
        spaced=False,
    )
    yield _rule(
        "ne",
        r"~(?:(?:le|la|lui|rien)~){0,2}(?:dis|dites|révèle|révélez|mentionne|mentionnez)"
        r"~(?:\w{1,12}~){0,3}à~l['’]utilisateur",
    )
    yield _rule(
        "fin du|fin de la", "~(?:matériel~source|texte~source|document~source|matière~source)"
    )


def _spanish() -> Iterator[Rule]:
    orders = "(?:instrucciones|indicaciones|órdenes|reglas|directrices|mensajes)"
    before = "(?:anteriores|previas|previos|precedentes|de~arriba|dadas|iniciales)"
    yield _rule(
        "ignora|ignore|ignorad|olvida|olvide|haz caso omiso|haga caso omiso|omite",
        rf"~(?:(?:todas|todos|de|las|los|tus|sus|estas)~){{0,4}}{orders}~{before}",
    )
    yield _rule("ignora|ignore|olvida|olvide", "~todo~lo~(?:anterior|de~arriba|previo)")
    yield _rule(
        "ahora eres|a partir de ahora eres|ahora usted es",
        r"~(?:una?~)?(?:\w{2,14}~){0,2}(?:ia|asistente|modelo~de~lenguaje|chatbot|bot)",
    )
    yield _rule("nuevas|nueva", r"~instrucci(?:ones|ón)\s{0,3}:", spaced=False)
    yield _rule("prompt|instrucciones", "~del?~sistema")
    yield _rule(
        "responde|responda|contesta|conteste", "~(?:solo|sólo|únicamente|solamente)~(?:con|en)"
    )
    yield _rule("como", "~(?:un~)?modelo~de~lenguaje")
    yield _rule(
        "no",
        r"~(?:se~|le~)?(?:lo~)?(?:digas|diga|reveles|revele|menciones)~(?:\w{1,12}~){0,3}"
        "(?:al|a~los)~usuarios?",
    )
    yield _rule("fin del", "~(?:material|texto|documento)~(?:fuente|de~origen)")


def _portuguese() -> Iterator[Rule]:
    orders = "(?:instruções|indicações|ordens|regras|diretrizes|mensagens|comandos)"
    before = "(?:anteriores|prévias|precedentes|acima|dadas|iniciais)"
    yield _rule(
        "ignore|ignora|ignorem|esqueça|esquece|desconsidere|desconsidera",
        rf"~(?:(?:todas|todos|as|os|suas|seus|tuas|essas)~){{0,3}}{orders}~{before}",
    )
    yield _rule("ignore|esqueça|desconsidere", "~tudo~(?:acima|o~que~(?:veio~antes|está~acima))")
    yield _rule(
        "agora você é|você agora é|a partir de agora você é",
        r"~(?:uma?~)?(?:\w{2,14}~){0,2}(?:ia|assistente|modelo~de~linguagem|chatbot|bot)",
    )
    yield _rule("novas|nova", r"~instruç(?:ões|ão)\s{0,3}:", spaced=False)
    yield _rule("prompt|instruções", "~d[eo]~sistema")
    yield _rule("responda|responde", "~(?:apenas|somente|só|unicamente)~(?:com|em)")
    yield _rule("como", "~(?:um~)?modelo~de~linguagem")
    yield _rule(
        "não",
        r"~(?:o~)?(?:diga|digas|revele|reveles|mencione|conte)~(?:\w{1,12}~){0,3}"
        "(?:ao|aos|para~o)~(?:usuários?|utilizador(?:es)?)",
    )
    yield _rule("fim do", "~(?:material|texto|documento)~(?:fonte|de~origem)")


def _italian() -> Iterator[Rule]:
    orders = "(?:istruzioni|indicazioni|ordini|regole|direttive|comandi|messaggi)"
    before = "(?:precedenti|sopra|qui~sopra|date|ricevute|iniziali)"
    yield _rule(
        "ignora|ignorate|ignori|dimentica|dimenticate|non considerare",
        rf"~(?:(?:tutte|tutti|le|gli|i|tue|queste)~){{0,3}}(?:{orders}~{before}|precedenti~{orders})",
    )
    yield _rule(
        "ignora|ignorate|dimentica", "~tutto~(?:quello|ciò)~(?:che~(?:precede|viene~prima|è))"
    )
    yield _rule(
        "ora sei|adesso sei|d'ora in poi sei",
        r"~(?:un['’]?a?~?)?(?:\w{2,14}~){0,2}(?:ia|assistente|modello~linguistico|chatbot|bot)",
    )
    yield _rule("nuove|nuova", r"~istruzion[ei]\s{0,3}:", spaced=False)
    yield _rule("prompt", "~d(?:i|el)~sistema")
    yield _rule("rispondi|rispondete", "~(?:solo|soltanto|esclusivamente|unicamente)~(?:con|in)")
    yield _rule("come|in quanto", "~(?:un~)?modello~linguistico")
    yield _rule(
        "non",
        r"~(?:lo~)?(?:dire|dirlo|rivelare|menzionare|svelare)~(?:\w{1,12}~){0,3}"
        "(?:all['’]utente|agli~utenti)",
    )
    yield _rule("fine del", "~(?:materiale|testo|documento)~(?:di~origine|sorgente|di~partenza)")


def _dutch() -> Iterator[Rule]:
    orders = "(?:instructies?|opdrachten|opdracht|regels|aanwijzingen|berichten|prompts?)"
    before = "(?:vorige|voorgaande|eerdere|bovenstaande|voorafgaande)"
    yield _rule(
        "negeer|vergeet|sla",
        rf"~(?:(?:alle|de|je|jouw|uw|deze)~){{0,3}}(?:{before}~{orders}|{orders}~hierboven)",
    )
    yield _rule("negeer|vergeet", "~alles~(?:hierboven|hiervoor|wat~(?:hierboven|hiervoor|eerder))")
    yield _rule(
        "je bent|jij bent|u bent",
        r"~(?:nu|voortaan|vanaf~nu)~(?:een~)?(?:\w{2,14}~){0,2}(?:ai|assistent|taalmodel|chatbot|bot)",
    )
    yield _rule("nieuwe", r"~instructies?\s{0,3}:", spaced=False)
    yield _rule("systeemprompt|systeem-prompt", "s?")
    yield _rule("antwoord|reageer", "~(?:alleen|uitsluitend|enkel)~(?:met|in)")
    yield _rule("als", "~(?:een~)?(?:ai-)?taalmodel")
    yield _rule("vertel|onthul|noem", r"~(?:dit~|het~)?(?:\w{2,12}~){0,2}niet~aan~de~gebruikers?")
    yield _rule("einde van", "~(?:het~|de~)?(?:bronmateriaal|brontekst|brondocument)")


def _russian() -> Iterator[Rule]:
    orders = r"(?:инструкци|указани|команд|правил|промпт|сообщени)\w{0,3}"
    before = r"(?:предыдущ|прежн|предшествующ|вышеуказанн|прошл|данн\w{2}~ранее~)\w{0,4}"
    yield _rule(
        "игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|не обращай внимания на",
        rf"~(?:(?:все|всё|любые|про|свои|эти)~){{0,3}}(?:{before}~{orders}|{orders}~выше)",
    )
    yield _rule(
        "игнорируй|игнорируйте|забудь|забудьте", "~(?:обо~)?вс[её]м?,?~что~(?:было|написано|выше)"
    )
    yield _rule(
        "теперь ты|ты теперь|отныне ты",
        r"(?:\s{1,3}|\s{0,2}[-—–]\s{0,2})(?:\w{2,14}~){0,2}(?:ассистент|помощник|ии|бот|чат-бот)",
    )
    yield _rule("новые|новая", r"~(?:инструкци[ия]|указания)\s{0,3}:", spaced=False)
    yield _rule("системный|системного|системном|системные", r"~промпт\w{0,3}")
    yield _rule(
        "отвечай|отвечайте|ответь|ответьте", "~(?:только|исключительно)~(?:на|в|словом|одним)"
    )
    yield _rule("как", "~(?:большая~)?языковая~модель")
    yield _rule(
        "не",
        r"~(?:говори|сообщай|раскрывай|рассказывай)(?:те)?~(?:\w{1,12}~){0,3}пользовател\w{1,3}",
    )
    yield _rule("конец", r"~исходн(?:ого|ых)~(?:материал|текст|документ)\w{1,3}")


def _arabic() -> Iterator[Rule]:
    orders = "(?:التعليمات|الأوامر|التوجيهات|القواعد|الإرشادات|تعليماتك)"
    yield _rule(
        "تجاهل|تجاهلي|انس|انسَ",
        rf"~(?:(?:جميع|كل|كافة)~)?{orders}~(?:السابقة|أعلاه|المذكورة|الواردة)",
    )
    yield _rule("تجاهل|انس", "~كل~ما~(?:سبق|ورد~أعلاه)")
    yield _rule("أنت الآن", "~(?:مساعد|نموذج~لغوي|روبوت|ذكاء~اصطناعي)")
    yield _rule("تعليمات جديدة", r"\s{0,3}:", spaced=False)
    yield _rule("موجه|موجّه|مطالبة", "~النظام")
    yield _rule(
        "بصفتك|بصفتي|باعتبارك|باعتباري", "~(?:نموذج~لغ|ذكاء~اصطناعي|مساعد~ذكاء)", spaced=False
    )
    yield _rule("لا", r"~(?:تخبر|تكشف|تذكر|تقل)~(?:\w{1,12}~){0,3}(?:ل?لمستخدم|المستخدم)")
    yield _rule("أجب فقط|رد فقط", r"~ب", spaced=False)
    yield _rule("نهاية", "~(?:المادة~المصدر|مادة~المصدر|النص~المصدر)")


def _hindi() -> Iterator[Rule]:
    orders = r"(?:निर्देश|आदेश|नियम|अनुदेश)[\u0900-\u097f]{0,4}"
    yield _rule(
        "पिछले|पिछली|पूर्व|ऊपर|पहले",
        rf"~(?:(?:के|की|दिए|दी|गए|गई|सभी|सारे|सब)~){{0,4}}{orders}~(?:(?:को|की)~)?(?:पूरी~तरह~)?"
        r"(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)",
        spaced=False,
    )
    yield _rule(
        "अब आप|अब तुम|अब तू",
        r"~एक~(?:[\u0900-\u097fa-z]{1,14}~){0,2}(?:सहायक|एआई|ai|मॉडल|बॉट)",
        spaced=False,
    )
    yield _rule("नए निर्देश|नये निर्देश", r"\s{0,3}:", spaced=False)
    yield _rule("सिस्टम प्रॉम्प्ट|सिस्टम प्रॉम्प्ट", "", spaced=False)
    yield _rule("एआई|ai", "~(?:भाषा~)?मॉडल~के~रूप~में", spaced=False)
    yield _rule("उपयोगकर्ता|यूज़र|यूजर", "~को~(?:यह~)?(?:न|मत|नहीं)~बता", spaced=False)
    yield _rule("स्रोत सामग्री", "~(?:का~अंत|समाप्त)", spaced=False)


def _japanese() -> Iterator[Rule]:
    orders = "(?:指示|命令|プロンプト|ルール|指令)"
    yield _rule(
        "以前の|これまでの|上記の|前の|先ほどの|今までの|すべての|全ての",
        rf"(?:すべての|全ての|あらゆる)?{orders}(?:を|は|は、|を、)?(?:すべて|全て|完全に)?(?:無視|忘れ|破棄)",
        spaced=False,
    )
    yield _rule(
        "あなたは今から|あなたはこれから|今からあなたは|これからあなたは",
        r".{0,12}(?:アシスタント|ai|ボット|モデル)",
        spaced=False,
    )
    yield _rule("新しい指示|新たな指示|新しい命令", r"\s{0,3}[:：]", spaced=False)
    yield _rule("システムプロンプト", "", spaced=False)
    yield _rule("ai", r"\s?(?:言語モデル|アシスタント)として", spaced=False)
    yield _rule(
        "ユーザーに|ユーザに", "は?.{0,10}(?:言わない|伝えない|明かさない|教えない)で", spaced=False
    )
    yield _rule(
        "とだけ|のみを|のみで",
        "(?:回答|返答|答え|出力)(?:して|せよ|しなさい|てください)",
        spaced=False,
    )
    yield _rule(
        "ソース資料|原資料|ソースマテリアル", "(?:の|は)?(?:終わり|終了|ここまで)", spaced=False
    )


def _chinese() -> Iterator[Rule]:
    orders = "(?:指令|指示|命令|提示|提示词|提示詞|规则|規則|要求)"
    yield _rule(
        "忽略|无视|無視|忘记|忘記|忘掉|不要理会",
        rf"(?:掉)?(?:你)?(?:所有|一切|全部)?(?:之前|以上|上述|先前|前面|此前|上面)(?:的)?(?:所有|一切|全部)?"
        rf"(?:给出的|的)?(?:{orders}|内容|內容)",
        spaced=False,
    )
    yield _rule(
        "忽略|无视|無視|忘记|忘記",
        f"(?:你的|所有|一切)(?:系统|系統|原有)?的?{orders}",
        spaced=False,
    )
    yield _rule(
        "你现在是|你現在是|从现在起你是|从现在开始你是",
        r"(?:一个|一個|一名|一位)?.{0,10}(?:助手|助理|ai|机器人|機器人|模型)",
        spaced=False,
    )
    yield _rule("新指令|新的指令|新指示|新的指示", r"\s{0,3}[:：]", spaced=False)
    yield _rule("系统提示|系統提示", "[词詞]", spaced=False)
    yield _rule(
        "作为一个|作为|作為一個|作為",
        r"\s?(?:ai|人工智能|人工智慧)?\s?(?:语言模型|語言模型|ai助手)",
        spaced=False,
    )
    yield _rule(
        "不要告诉|不要告訴|不要透露|不要泄露|请勿告诉",
        ".{0,8}(?:用户|用戶|使用者|提示词)",
        spaced=False,
    )
    yield _rule("只回复|只回答|只输出|仅回复|仅输出", r"\s{0,2}[:：“\"「]", spaced=False)
    yield _rule("源材料|来源材料|源素材|原始材料", "(?:到此)?(?:结束|結束|完毕)", spaced=False)


RULES: tuple[Rule, ...] = (
    *_english(), *_german(), *_french(), *_spanish(), *_portuguese(), *_italian(), *_dutch(),
    *_russian(), *_arabic(), *_hindi(), *_japanese(), *_chinese(),
)  # fmt: skip
"""Every rule; the languages do not matter, since a text may give orders in another than its own."""
