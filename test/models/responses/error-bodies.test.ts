import { describe, expect, it } from 'vitest'
import { KEY, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { respond } from '../frames/support.ts'

const TEXT = 'The GPU fell off the bus.'

const OVERFLOW = "The input (61709 tokens) is longer than the model's context length (40960 tokens)."

/** The bodies of vLLM, SGLang, Ollama, FastAPI, Google, AWS, LiteLLM, Spring, problem details and proxies. */
const BODIES: [string, (text: string) => unknown][] = [
  [
    'an object of type error',
    (message) => ({ object: 'error', message, type: 'BadRequestError', code: 400 }),
  ],
  ['a text as error', (error) => ({ error })],
  ['a detail', (detail) => ({ detail })],
  [
    'a list of details',
    (msg) => ({ detail: [{ type: 'missing', loc: ['body', 'model'], msg, input: 'secret' }] }),
  ],
  ['a list of errors', (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]],
  ['a message', (message) => ({ message })],
  ['an error in an error', (message) => ({ error: { error: { message, type: 'x' } } })],
  ['an object as detail', (message) => ({ detail: { error: { message } } })],
  ['an error and a message', (message) => ({ timestamp: 7, status: 400, error: 'Bad Request', message })],
  ['an error that is true', (message) => ({ error: true, message })],
  ['problem details', (detail) => ({ type: 'about:blank', title: 'Bad Request', detail })],
  ['a description', (error_description) => ({ error: 'invalid_request', error_description })],
  ['errors', (message) => ({ errors: [{ message }, { message: 'Another.' }] })],
  ['plain text', (text) => text],
  ['HTML', (text) => `<!doctype html><html><style>p { x: y }</style><body><p>${text}</p></body></html>`],
]

describe('error bodies', () => {
  describe.each(SCRIPTED_PROVIDERS)('the body of an error of %s', (format) => {
    async function errorOf(body: unknown, status = 400) {
      const content = typeof body === 'string' ? body : JSON.stringify(body)
      const responding = respond(format, { body: content, status, contentType: 'text/plain' })
      return responding.catch((error: unknown) => error)
    }

    it.each(BODIES)('may be %s', async (_, toBody) => {
      const message = expect.stringMatching(new RegExp(`^${format} returned HTTP 400.*${TEXT}`))
      expect(await errorOf(toBody(TEXT))).toMatchObject({ message, isTransient: false, isOverflow: false })
      const overflow = { isTransient: false, isOverflow: true }
      expect(await errorOf(toBody(OVERFLOW))).toMatchObject(overflow)
      expect(await errorOf(toBody(TEXT), 503)).toMatchObject({ isTransient: true })
    })

    it.each(BODIES)('is masked and cut: %s', async (_, toBody) => {
      const { message } = (await errorOf(toBody(`No access for ${KEY}. ${'x'.repeat(5_000)}`))) as Error
      expect(message).toContain('No access for [secret].')
      expect(message).not.toContain(KEY)
      expect(message.length).toBeLessThan(500)
    })

    it('may be empty', async () => {
      expect(await errorOf('', 500)).toMatchObject({
        isTransient: true,
        message: `${format} returned HTTP 500: X`,
      })
    })
  })

  describe('an overflow', () => {
    it.each([
      'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input.',
      "This model's maximum context length is 4096 tokens. However, you requested 4472 tokens (376 in the messages).",
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1244 `inputs` tokens',
      'Input validation error: `inputs` must have less than 1024 tokens. Given: 5000',
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
      'Invalid request: Your request exceeded model token limit: 8192',
      'Requested tokens (5000) exceed context window of 4096',
      'Prompt length 5000 is greater than max_seq_len 4096',
      'max_tokens must be at least 1, got -376.',
      'litellm.ContextWindowExceededError: the prompt',
      'too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.',
    ])('is recognized: %s', async (message) => {
      const body = JSON.stringify({ object: 'error', message, code: 400 })
      const overflow = { isOverflow: true, isTransient: false }
      await expect(respond('openai-compatible', { body, status: 400 })).rejects.toMatchObject(overflow)
    })

    it.each(['Too many tokens per minute.', 'max_tokens is too large: 64000.', 'Invalid input: role'])(
      'is not %s',
      async (error) => {
        const responding = respond('openai-compatible', { body: JSON.stringify({ error }), status: 400 })
        await expect(responding).rejects.toMatchObject({ isOverflow: false })
      },
    )
  })
})
