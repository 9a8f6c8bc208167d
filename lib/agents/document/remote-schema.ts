import * as z from 'zod'
import { checkHeaders, checkUrl } from '../../tools/document/check-http.ts'
import { endpointShape, lambdaFields } from '../../tools/document/tool-fields.ts'
import { loopbackHosts } from '../../tools/egress/private-hosts.ts'

/** A request that takes longer is answered by 202. */
const TIMEOUT_SECONDS = { min: 1, max: 600, default: 60 } as const

/** Headers that the service sets for each request, beside those that tools reserve. */
const RESERVED = /^(accept|content-type|execution-deadline|traceparent|webhook-(id|signature|timestamp))$/i

/** Where a remote agent runs. The defaults of the parts are absent, because one of `url` and `lambda` is. */
export const remoteFields = z.strictObject({
  url: endpointShape.url.optional(),
  headers: endpointShape.headers.unwrap().optional(),
  allowedHosts: endpointShape.allowedHosts.unwrap().optional(),
  lambda: lambdaFields.optional(),
  timeoutSeconds: z.int().min(TIMEOUT_SECONDS.min).max(TIMEOUT_SECONDS.max).default(TIMEOUT_SECONDS.default),
  /** Runs change nothing: a trial may call the agent. */
  readOnly: z.boolean().optional(),
})

/** The names of the fields at a path within `remote`, for error messages. */
export const getKnownRemoteFields = (path: PropertyKey[]): string[] =>
  Object.keys((path[0] === 'lambda' ? lambdaFields : remoteFields).shape)

/** `remote` in an `agent.md`. */
export const remoteSchema = remoteFields.check(({ value, issues }) => {
  const { url, headers = {}, allowedHosts = [], lambda } = value
  const report = (path: PropertyKey[], message: string) =>
    void issues.push({ code: 'custom', input: null, path, message })
  if ((url === undefined) === (lambda === undefined)) {
    const found = url === undefined ? 'neither' : 'both'
    return report([], `must have exactly one of url, lambda, but has ${found}`)
  }
  if (url === undefined) {
    for (const name of ['headers', 'allowedHosts'] as const)
      if (value[name]) report([name], 'must be omitted: a Lambda function has no URL')
    return
  }
  checkHeaders(headers, ['headers'], report)
  for (const name of Object.keys(headers))
    if (RESERVED.test(name)) report(['headers', name], 'is reserved: the service sets it')
  checkUrl({ url, allowedHosts: [...allowedHosts, ...loopbackHosts(url)] }, ['url'], report)
})
