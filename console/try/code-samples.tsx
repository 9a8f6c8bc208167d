import { useMemo, useState } from 'preact/hooks'
import { toUrl } from '../api/request.ts'
import { Button, CopyButton, saveFile } from '../components/button.tsx'
import { TextBox } from '../components/json-view.tsx'
import { Card, Segments } from '../components/page.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import type { Parameters } from './run-options.ts'
import { INPUT_FILE, type SampleRequest, TOKEN_VARIABLE, toCurl, toPython, toTypeScript } from './samples.ts'

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' }
type Language = keyof typeof LANGUAGES
const WRITERS = { curl: toCurl, typescript: toTypeScript, python: toPython }

/** A longer input makes a sample that nobody reads, and a command that shells refuse. */
const MAX_INPUT = 20_000

type Props = { agent: string; parameters: Parameters; text: string }

/** The request as code. The token is a variable: the real one is never shown. */
export function CodeSamples({ agent, parameters, text }: Props) {
  const [language, setLanguage] = useState<Language>('curl')
  const isLong = text.length > MAX_INPUT
  const save = () => saveFile(new Blob([text], { type: 'application/json' }), INPUT_FILE)
  const sample = useMemo(() => {
    const baseUrl = window.location.origin + toUrl('')
    return toSample(WRITERS[language], { baseUrl, agent, parameters, input: isLong ? null : text })
  }, [language, agent, JSON.stringify(parameters), isLong ? '' : text])
  return (
    <Card
      title="Request as code"
      actions={<Segments label="Language" choices={LANGUAGES} chosen={language} onChoose={setLanguage} />}
    >
      {sample === null ? (
        <p class="muted">Correct the JSON of the input first.</p>
      ) : (
        <>
          <p class="muted">
            Set <code>{TOKEN_VARIABLE}</code> to an API token.
            {language === 'typescript' && say` The client is in ${<code>clients/typescript</code>}.`}
            {isLong && ' The input is long: '}
            {isLong && <Button label={`Save it as ${INPUT_FILE}`} class="small" onClick={save} />}
          </p>
          <TextBox label={`Request in ${LANGUAGES[language]}`}>
            <VisibleText text={sample} />
          </TextBox>
          <CopyButton text={sample} subject="the sample" />
        </>
      )}
    </Card>
  )
}

function toSample(write: (request: SampleRequest) => string, request: SampleRequest): string | null {
  try {
    return write(request)
  } catch {
    return null
  }
}
