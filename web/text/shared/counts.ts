/** The forms of a phrase for the numbers of a language. `#` stands for the number. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** Returns how a language writes numbers, and phrases with them. */
export function countsIn(language: string) {
  const rules = new Intl.PluralRules(language);
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const lists = new Intl.ListFormat(language);
  return {
    /** Returns the words of an enumeration, with what is between them. */
    list: (words: readonly string[]) => lists.formatToParts(words),
    number: (value: number): string => whole.format(value),
    decimal: (value: number): string => tenths.format(value),
    /** Returns the form of a phrase that fits the count. */
    plural: (count: number, forms: Forms): string =>
      (forms[rules.select(count)] ?? forms.other).replace('#', whole.format(count)),
    /** Returns the count for a narrow place. */
    upTo: (max: number, count: number): string => (count > max ? `${whole.format(max)}+` : whole.format(count)),
  };
}
