import { useState } from 'preact/hooks'
import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestJson } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { formatBytes, formatCountOf } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { TextBox } from './text-box.tsx'

type State = { code: string | null; isLoading: boolean; error: ApiError | null }

/** The code of a code agent: up to some megabytes, so only on request. */
export function VersionCode({ version }: { version: VersionDetails }) {
  const [{ code, isLoading, error }, setState] = useState<State>({
    code: null,
    isLoading: false,
    error: null,
  })

  async function load() {
    if (isLoading) return
    setState({ code: null, isLoading: true, error: null })
    try {
      const { sourceCode = '' } = await requestJson<VersionDetails>(
        `/v1/agents/${version.documentId}/versions/${version.id}`,
        { query: { sourceCode: true } },
      )
      setState({ code: sourceCode, isLoading: false, error: null })
    } catch (cause) {
      setState({ code: null, isLoading: false, error: asApiError(cause) })
    }
  }

  return (
    <section class="card stack" aria-labelledby="code-title">
      <div class="toolbar">
        <h2 id="code-title">Code</h2>
        {code !== null && <CopyButton text={code} label="Copy code" />}
      </div>
      {code === null && !error && (
        <p>
          <button type="button" disabled={isLoading} onClick={load}>
            {isLoading ? 'Loading the code…' : 'Show the code'}
          </button>
        </p>
      )}
      {error && <ErrorBox error={error} onRetry={load} />}
      {code !== null && <Source code={code} />}
    </section>
  )
}

function Source({ code }: { code: string }) {
  const bytes = new TextEncoder().encode(code).length
  return (
    <>
      <p class="muted" role="status">
        {formatBytes(bytes)}, {formatCountOf(code.trimEnd().split('\n').length, 'line')}, bundled as it runs.
      </p>
      <TextBox label="Text of the code" text={code} />
    </>
  )
}
