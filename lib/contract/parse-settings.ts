import { MAPPING_RULE, parseMapping } from '../access/claim-mapping.ts'
import * as identity from '../access/identity-settings.ts'
import { parseToken, TOKEN_RULE } from '../access/tokens.ts'
import type { Environment } from '../environment.ts'
import { HOST_LIST_RULE, ORIGINS_RULE, parseCorsOrigins, parseHosts } from '../host-list.ts'
import { parseEmbeddingModel } from '../models/embed-text.ts'
import { parseModelEndpoints } from '../models/endpoints/model-endpoints.ts'
import { parseModelName } from '../models/model-name.ts'
import { parseModelPrices } from '../models/prices/price-table.ts'
import { HTTP_URL_RULE, PUBLIC_URL_RULE, parseHttpUrl, parsePublicUrl } from '../public-url.ts'
import { type Grammar, MAX_INTEGER, type Setting, type Settings } from './settings/setting.ts'

/** @param environment has the names of endpoints. @throws an Error that says what is wrong */
type Parse = (text: string, environment: Environment) => unknown

/** Texts of settings are kept as they are if their parser accepts them. */
const GRAMMARS: { [Name in Grammar]?: { allowed: string; parse: Parse } } = {
  audiences: { allowed: identity.AUDIENCES_RULE, parse: identity.parseAudiences },
  clientId: { allowed: identity.CLIENT_ID_RULE, parse: identity.parseClientId },
  embeddingModel: { allowed: '`{provider}/{model}`', parse: parseEmbeddingModel },
  eventBus: {
    allowed: 'the name of an EventBridge event bus of the account, or the ARN of one in the same region',
    parse: parseEventBus,
  },
  hosts: { allowed: HOST_LIST_RULE, parse: parseHosts },
  httpUrl: { allowed: HTTP_URL_RULE, parse: parseHttpUrl },
  issuer: { allowed: identity.ISSUER_RULE, parse: identity.parseIssuer },
  mapping: { allowed: MAPPING_RULE, parse: parseMapping },
  modelEndpoints: {
    allowed: 'a JSON object such as `{"groq": {"baseUrl": "https://api.groq.com/openai/v1"}}`',
    parse: parseModelEndpoints,
  },
  modelName: { allowed: '`{provider}/{model}` or `{provider}/{model}:{reasoning}`', parse: parseModelName },
  modelPrices: {
    allowed:
      'a JSON object such as `{"bedrock/my-model": {"input": 0.5, "output": 1.5}}`, optionally with `cachedInput` and `cacheWrite`',
    parse: parseModelPrices,
  },
  origin: { allowed: identity.ORIGIN_RULE, parse: identity.parseOrigin },
  origins: { allowed: ORIGINS_RULE, parse: parseCorsOrigins },
  publicUrl: { allowed: PUBLIC_URL_RULE, parse: parsePublicUrl },
  scopes: { allowed: identity.SCOPE_RULE, parse: identity.parseScope },
  token: { allowed: TOKEN_RULE, parse: parseToken },
}

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_CreateEventBus.html */
function parseEventBus(text: string): void {
  if (!/^(arn:aws[\w-]*:events:[\w-]+:\d{12}:event-bus\/)?[\w.-]{1,256}$/.test(text))
    throw new Error('must be the name or the ARN of an event bus.')
}

/** The allowed values in words, for the documentation and for errors. */
export function allowedOf(row: Setting): string {
  if (row.allowed) return row.allowed
  const format = (number: number) => number.toLocaleString('en-US')
  switch (row.type) {
    case 'flag':
      return 'true or false'
    case 'integer':
      return `an integer from ${format(row.min ?? 1)} to ${format(row.max ?? MAX_INTEGER)}`
    case 'choice':
      return row.values.map((value) => (typeof value === 'string' ? `\`${value}\`` : value)).join(', ')
    case 'text':
    case 'list':
      return row.allowed
    default: {
      const { allowed = '' } = GRAMMARS[row.type] ?? {}
      return row.maxLength ? `${allowed}, at most ${format(row.maxLength)} characters` : allowed
    }
  }
}

/** How the AWS CDK writes a value that it knows only during deployment. */
const ATTRIBUTE = /\$\{Token\[/

type Parsers = { [Name in Grammar]?: Parse }

/** The value of a text that is not empty; undefined if it is not allowed. @throws an Error that says why it is not */
function parseText(row: Setting, text: string, environment: Environment, parsers: Parsers) {
  const mayBe = (part: string, pattern: RegExp) =>
    pattern.test(part) || (row.mayBeAttribute === true && ATTRIBUTE.test(part))
  switch (row.type) {
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'integer': {
      const number = /^(0|[1-9]\d{0,6})$/.test(text) ? Number(text) : Number.NaN
      return number >= (row.min ?? 1) && number <= (row.max ?? MAX_INTEGER) ? number : undefined
    }
    case 'choice':
      return row.values.find((value) => [text, text.toUpperCase()].includes(String(value)))
    case 'text':
      return mayBe(text, row.pattern ?? /^/) ? text : undefined
    case 'list': {
      const parts = text.split(',').map((part) => part.trim())
      const isValid =
        parts.length <= row.max &&
        new Set(parts).size === parts.length &&
        parts.every((part) => mayBe(part, row.pattern))
      return isValid ? text : undefined
    }
    default: {
      if (text.length > (row.maxLength ?? Number.POSITIVE_INFINITY)) return undefined
      if (row.mayBeAttribute && ATTRIBUTE.test(text)) return text
      const parse = parsers[row.type] ?? GRAMMARS[row.type]?.parse
      parse?.(text, environment)
      return text
    }
  }
}

type ValueOf<Row extends Setting> =
  | (Row extends { type: 'flag' }
      ? boolean
      : Row extends { type: 'integer' }
        ? number
        : Row extends { type: 'choice'; values: readonly (infer Value)[] }
          ? Value
          : string)
  | (Row['default'] extends null ? null : never)

/** The values of the settings of a table. */
export type ValuesOf<Table extends Settings> = { [Name in keyof Table]: ValueOf<Table[Name]> }

/** A problem with a value. `reason`: what its parser says. */
export type Problem = { name: string; value: string; allowed: string; reason?: string }

/**
 * Reads settings from texts; an empty text is an unset setting.
 * @param parsers in place of those that the service and `npm start` share
 * @throws an Error with one line for each invalid value
 */
export function parseSettings<Table extends Settings>(
  table: Table,
  textOf: (name: string) => string | undefined,
  explain: (problem: Problem) => string,
  { environment = {}, parsers = {} }: { environment?: Environment; parsers?: Parsers } = {},
): ValuesOf<Table> {
  const problems: string[] = []
  const entries = Object.entries(table).map(([name, row]) => {
    const text = textOf(name)
    if (!text) return [name, row.default]
    const fail = (reason?: string) =>
      problems.push(
        explain({
          name,
          value: text,
          allowed: allowedOf(row).replaceAll('`', ''),
          ...(reason && { reason }),
        }),
      )
    try {
      const value = parseText(row, text, environment, parsers)
      if (value === undefined) fail()
      return [name, value]
    } catch (error) {
      fail((error as Error).message)
      return [name, null]
    }
  })
  if (problems.length > 0) throw new Error([...new Set(problems)].join('\n'))
  return Object.fromEntries(entries)
}
