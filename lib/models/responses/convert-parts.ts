import { isJsonObject, type Json } from '../../core/json/json.ts'
import type { ResponsePart } from '../../core/model.ts'

type Decode = (input: Json) => Json

/**
 * Converts pieces of a response to those of the declared schemas, where a provider enforces others.
 * @param decoderOf the conversion of the text (`null`) or of the input of a tool; null if there is none
 */
export function convertParts(
  decoderOf: (toolName: string | null) => Decode | null,
  onPart: (part: ResponsePart) => void,
): (part: ResponsePart) => void {
  const open = new Map<string, ConvertedJson>()
  return (part) => {
    const call = 'toolCall' in part ? part.toolCall : null
    const decode = decoderOf(call?.name ?? null)
    if (!decode) return onPart(part)
    const key = call?.id ?? ''
    const converted = open.get(key) ?? new ConvertedJson(decode)
    open.set(key, converted)
    const piece = converted.push(call ? call.arguments : 'text' in part ? part.text : '')
    if (piece) onPart(call ? { toolCall: { ...call, arguments: piece } } : { text: piece })
  }
}

/** By which share a text has to grow until it is converted again: the work stays proportional to its length. */
const GROWTH = 1 / 20
const MIN_GROWTH = 8

/**
 * The JSON of an object that arrives in pieces, and has to be converted. A member is shown when it is complete, since
 * its conversion can depend on all of it; one that is a text as it grows.
 */
class ConvertedJson {
  private readonly decode: Decode
  private text = ''
  private shown = ''
  private convertAt = 0
  private position = 0
  private depth = 0
  private isEscaped = false
  private isString = false
  private isValue = false
  /** Where the last text of the object began, and where its last complete member ends. */
  private quote = 0
  private end = 0

  constructor(decode: Decode) {
    this.decode = decode
  }

  push(piece: string): string {
    this.text += piece
    this.scan()
    const isWhole = this.end > 0 && this.depth === 0
    if (!isWhole && this.text.length < this.convertAt) return ''
    this.convertAt = this.text.length + Math.max(this.text.length * GROWTH, MIN_GROWTH)
    const next = this.convert(isWhole)
    if (!next?.startsWith(this.shown)) return ''
    const added = next.slice(this.shown.length)
    this.shown = next
    return added
  }

  private scan(): void {
    for (; this.position < this.text.length; this.position++) {
      const character = this.text[this.position] ?? ''
      if (this.isEscaped) this.isEscaped = false
      else if (this.isString) {
        if (character === '\\') this.isEscaped = true
        else if (character === '"') this.isString = false
      } else if (character === '"') {
        this.isString = true
        if (this.depth === 1) this.quote = this.position
      } else if (character === '{' || character === '[') this.depth++
      else if (character === '}' || character === ']') {
        this.depth--
        if (this.depth === 0) this.end = this.position
      } else if (this.depth === 1 && character === ':') this.isValue = true
      else if (this.depth === 1 && character === ',') {
        this.isValue = false
        this.end = this.position
      }
    }
  }

  /** Null if the text is not that of an object. */
  private convert(isWhole: boolean): string | null {
    const complete = this.decoded(`${this.text.slice(0, this.end) || '{'}}`)
    if (complete === null || isWhole) return complete
    return this.withOpenText() ?? complete.slice(0, -1)
  }

  /** With the beginning of the last member, if its conversion leaves a text as it is. */
  private withOpenText(): string | null {
    if (!(this.isString && this.isValue && this.depth === 1)) return null
    const decoded = this.decoded(`${this.text.slice(0, this.quote)}"0"}`)
    if (!decoded?.endsWith('"0"}')) return null
    // Neither half of an escape nor half of a surrogate pair.
    const open = parse(`${this.text.slice(this.quote).replace(/\\(u[\da-f]{0,3})?$/i, '')}"`)
    if (typeof open !== 'string') return null
    return decoded.slice(0, -'0"}'.length) + JSON.stringify(open.replace(/[\uD800-\uDBFF]$/, '')).slice(1, -1)
  }

  private decoded(json: string): string | null {
    const value = parse(json)
    return isJsonObject(value ?? null) ? JSON.stringify(this.decode(value as Json)) : null
  }
}

function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
