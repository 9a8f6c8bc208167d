/** Settings of the stack and of `npm start`: schemas with their documentation. No function loads this. */
import * as z from 'zod'

export type SettingDoc = {
  /** The allowed values in words, for the documentation and for errors. */
  allowed: string
  description: string
  /** What the documentation shows instead of the name and the value. Settings with the same name share a row. */
  shownName?: string
  shownDefault?: string
}

/** A setting with the value of an unset one. Texts come from CDK context or from environment variables. */
export function setting<T, D extends T | null>(
  text: z.ZodType<T, string>,
  { default: unset, ...doc }: SettingDoc & { default: D },
) {
  return text
    .optional()
    .transform((value): T | D => value ?? unset)
    .meta(doc)
}

/** A setting that is null if it is unset. */
export const optional = <T>(text: z.ZodType<T, string>, doc: SettingDoc) =>
  setting(text, { ...doc, default: null })

type Plain<D> = { description: string; default: D; shownDefault?: string }

export const flag = <D extends boolean | null>(options: Plain<D>) =>
  setting<boolean, D>(
    z.enum(['true', 'false']).transform((text) => text === 'true'),
    { ...options, allowed: 'true or false' },
  )

/** At most what `readInteger` of the functions accepts. */
export function integer<D extends number | null>({
  min = 1,
  max = 9_999_999,
  ...options
}: Plain<D> & { min?: number; max?: number; allowed?: string }) {
  const format = (number: number) => number.toLocaleString('en-US')
  const text = z
    .string()
    .regex(/^(0|[1-9]\d{0,6})$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
  return setting<number, D>(text, { allowed: `an integer from ${format(min)} to ${format(max)}`, ...options })
}

/**
 * A text that a parser accepts, whose error says what is wrong. The setting is the text itself.
 * @param prefix of the error
 */
export const checked = (parse: (text: string) => unknown, prefix = ''): z.ZodType<string, string> =>
  z.string().superRefine((text, context) => {
    try {
      parse(text)
    } catch (error) {
      context.addIssue({ code: 'custom', message: `${prefix} ${(error as Error).message}`.trim() })
    }
  })

export const docOf = (schema: z.ZodType): SettingDoc => schema.meta() as SettingDoc

/** A problem with a value. `reason`: what its parser says. */
export type Problem = { name: string; value: string; allowed: string; reason?: string }

/**
 * Reads settings from texts; an empty text is an unset setting.
 * @throws an Error with one line for each invalid value
 */
export function parseSettings<Shape extends z.ZodRawShape>(
  shape: Shape,
  textOf: (name: string) => string | undefined,
  explain: (problem: Problem) => string,
): z.output<z.ZodObject<Shape>> {
  const texts = Object.fromEntries(Object.keys(shape).map((name) => [name, textOf(name) || undefined]))
  const result = z.object(shape).safeParse(texts)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path: [name = ''], code, message }) =>
    explain({
      name: String(name),
      value: texts[String(name)] ?? '',
      allowed: docOf(shape[String(name)] as z.ZodType).allowed.replaceAll('`', ''),
      ...(code === 'custom' && { reason: message }),
    }),
  )
  throw new Error([...new Set(problems)].join('\n'))
}
