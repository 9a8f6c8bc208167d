import { useId, useMemo, useState } from 'preact/hooks'
import { toUrl } from '../api/request.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Segments } from '../components/data.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import type { Parameters } from './run-options.ts'
import { INPUT_FILE, type SampleRequest, TOKEN_VARIABLE, toCurl } from './sample-request.ts'
import { toPython } from './to-python.ts'
import { toTypeScript } from './to-typescript.ts'

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' }
type Language = keyof typeof LANGUAGES
const WRITERS = { curl: toCurl, typescript: toTypeScript, python: toPython }

/** A longer input makes a sample that nobody reads, and a command that shells refuse. */
const MAX_INPUT = 20_000

type Props = { agent: string; parameters: Parameters; text: string }

/** The request as code. The token is a variable: the real one is never shown. */
export function CodeSamples({ agent, parameters, text }: Props) {
  const id = useId()
  const [language, setLanguage] = useState<Language>('curl')
  const isLong = text.length > MAX_INPUT
  const sample = useMemo(() => {
    const baseUrl = window.location.origin + toUrl('')
    return toSample(WRITERS[language], { baseUrl, agent, parameters, input: isLong ? null : text })
  }, [language, agent, JSON.stringify(parameters), isLong ? '' : text])
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <div class="toolbar">
        <h2 id={`${id}-title`}>Request as code</h2>
        <Segments label="Language" choices={LANGUAGES} chosen={language} onChoose={setLanguage} />
      </div>
      {sample === null ? (
        <p class="muted">Correct the JSON of the input first.</p>
      ) : (
        <>
          <p class="muted">
            Set <code>{TOKEN_VARIABLE}</code> to an API token.
            {language === 'typescript' && (
              <>
                {' '}
                The client is in <code>clients/typescript</code>.
              </>
            )}
            {isLong && (
              <>
                {' '}
                The input is long: <DownloadButton text={text} />
              </>
            )}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus. */}
          <section class="sample" tabIndex={0} aria-label={`Request in ${LANGUAGES[language]}`}>
            <pre>
              <VisibleText text={sample} />
            </pre>
          </section>
          <CopyButton text={sample} subject="the sample" />
        </>
      )}
    </section>
  )
}

/** Null while the input is not JSON. */
function toSample(write: (request: SampleRequest) => string, request: SampleRequest): string | null {
  try {
    return write(request)
  } catch {
    return null
  }
}

function DownloadButton({ text }: { text: string }) {
  function download() {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    link.download = INPUT_FILE
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <button type="button" class="small" onClick={download}>
      Save it as {INPUT_FILE}
    </button>
  )
}
