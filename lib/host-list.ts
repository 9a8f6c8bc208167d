const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

export const HOST_LIST_RULE =
  'hosts separated by commas, such as `receiver.internal:8080`; without a port, every port of the host'

/** The setting `webhookHosts`. @throws an Error that names the host */
export function parseHosts(text: string): string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== '')
  const invalid = hosts.find((host) => !HOST.test(host) || !URL.canParse(`https://${host}`))
  if (invalid !== undefined)
    throw new Error(`contains "${invalid}"; it must have ${HOST_LIST_RULE.replaceAll('`', '')}.`)
  return hosts
}

/** Origins whose pages may call the API, or `*` for all; empty if CORS is off. */
export type CorsOrigins = '*' | string[]

/** What is quoted in responses and templates of API Gateway. URLs allow more: `https://a'b.example`. */
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

export const ORIGINS_RULE = '`*`, or origins separated by commas, such as `https://app.example.com`'

/** The setting `corsOrigins`. @throws an Error when the text is neither `*` nor a comma-separated list of origins */
export function parseCorsOrigins(text: string): CorsOrigins {
  if (text.trim() === '*') return '*'
  const origins = text.split(',').map((origin) => origin.trim())
  if (origins.every((origin) => ORIGIN.test(origin) && URL.parse(origin)?.origin === origin)) return origins
  throw new Error('must be * or a comma-separated list of origins, such as https://app.example.')
}
