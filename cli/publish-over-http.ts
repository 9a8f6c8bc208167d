import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import type { VersionRecord } from '../lib/api/schemas/agent-record.ts'
import type { ProblemRecord } from '../lib/api/schemas/problem-record.ts'
import { tryParseJson } from '../lib/core/json.ts'
import { UserError } from './errors.ts'
import { explainFailure } from './remote.ts'

/** Longer than the service may take to check and store the largest agent. */
const TIMEOUT_MS = 60_000

type Params = {
  /** Base address of the service, with or without `/v1`. */
  url: string
  token: string
  agent: LoadedAgent
  draft: boolean
  message: string | undefined
}

/**
 * Publishes an agent with `POST /v1/agents`.
 * @throws UserError with the problems that the service found, or if it cannot be reached
 */
export async function publishOverHttp(params: Params): Promise<{ version: VersionRecord; isNew: boolean }> {
  const { text, document, code } = params.agent
  const { draft, message } = params
  const endpoint = `${params.url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/agents`
  const response = await send(endpoint, params.token, {
    document: text,
    slug: document.slug,
    code,
    draft,
    message,
  })
  const body = tryParseJson(await response.text())
  if (response.ok) return { version: body as VersionRecord, isNew: response.status === 201 }
  const { detail, code: errorCode, errors = [] } = (body ?? {}) as Partial<ProblemRecord>
  throw new UserError(
    `Publish failed: ${response.status} ${errorCode ?? ''} ${detail ?? response.statusText}`.trim(),
    {
      details: { code: errorCode, status: response.status, ...(errors.length > 0 && { problems: errors }) },
      lines: errors.map((problem) => problem.message),
    },
  )
}

async function send(endpoint: string, token: string, body: object): Promise<Response> {
  try {
    return await fetch(endpoint, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    throw new UserError(`Cannot reach ${endpoint}: ${explainFailure(endpoint, error as Error)}`)
  }
}
