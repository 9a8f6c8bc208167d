import { useEffect, useRef, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { unreachable } from '../api/api-error.ts'
import { nextQueryOf, send } from '../api/request.ts'
import { announce, Button, saveFile } from '../components/button.tsx'
import { InfoDialog, useAction } from '../components/dialog.tsx'
import { formatBytes, formatPercent } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { resultsFileOf } from './batches.ts'

const PAGE_SIZE = 1_000

export function DownloadResults({ batch }: { batch: BatchRecord }) {
  const [loaded, setLoaded] = useState<{ lines: number; bytes: number } | null>(null)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])
  const { error, start } = useAction(async () => {
    controller.current = new AbortController()
    setLoaded({ lines: 0, bytes: 0 })
    const parts = await readResults(batch, controller.current.signal, setLoaded)
    saveFile(new Blob(parts, { type: 'application/x-ndjson' }), resultsFileOf(batch))
    announce('The results are saved.')
    setLoaded(null)
  })

  function close() {
    controller.current?.abort()
    setLoaded(null)
  }

  return (
    <>
      <Button label="Download results" onClick={start} disabled={loaded !== null} />
      {loaded && (
        <InfoDialog title="Download results" onClose={close} close={error ? 'Close' : 'Stop'}>
          {error ? (
            <ErrorBox error={error} onRetry={start} />
          ) : (
            <p role="status">
              {formatPercent(batch.lines === 0 ? 1 : Math.min(loaded.lines / batch.lines, 1))},{' '}
              {formatBytes(loaded.bytes)}
            </p>
          )}
        </InfoDialog>
      )}
    </>
  )
}

/** Page by page: a service without streams has pages in any case, and each can be asked for again. @throws ApiError */
async function readResults(
  { id }: BatchRecord,
  signal: AbortSignal,
  onProgress: (loaded: { lines: number; bytes: number }) => void,
): Promise<Blob[]> {
  const path = `/v1/batches/${encodeURIComponent(id)}/results`
  const parts: Blob[] = []
  let [lines, bytes] = [0, 0]
  let query: URLSearchParams | null = new URLSearchParams({ limit: String(PAGE_SIZE) })
  while (query) {
    const response: Response = await send(path, { query, signal })
    const text = await response.text().catch(() => {
      signal.throwIfAborted()
      throw unreachable()
    })
    const part = new Blob([text])
    parts.push(part)
    // A blob of megabytes can be on disk: the text is not kept.
    lines += countLines(text)
    bytes += part.size
    onProgress({ lines, bytes })
    query = nextQueryOf(response.headers.get('Link'))
  }
  return parts
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
