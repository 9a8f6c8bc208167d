// Written by `agent-execution types`: run it again after a publish.

export type RedactPiiInput = {
  /** The text to redact, of any length and in any language. */
  content: string
}

export type RedactPiiOutput = {
  /** The content with each entity replaced by a placeholder. Text outside the entities is unchanged. */
  redactedContent: string
  /** The entities that were replaced, sorted by start, without overlaps. The original text is omitted so that the list contains no personal data. */
  entities: {
    /** The type of the entity. */
    type:
      | 'EMAIL_ADDRESS'
      | 'PHONE_NUMBER'
      | 'PAYMENT_CARD'
      | 'IBAN'
      | 'US_SSN'
      | 'IPV4_ADDRESS'
      | 'IPV6_ADDRESS'
    /** Offset in content where the entity starts, in UTF-16 code units (as in JavaScript's String.slice). */
    start: number
    /** Offset in content after the last code unit of the entity (exclusive), in UTF-16 code units. */
    end: number
    /** The placeholder in redactedContent, such as [EMAIL_ADDRESS]. */
    replacement: string
  }[]
}

export type RefundOrderInput = {
  /** The number of the order. */
  orderId: string
  /** How much to refund in US dollars. */
  usd: number
}

export type RefundOrderOutput = {
  /** Whether the order was refunded. */
  refunded: boolean
  /** How much was refunded. */
  usd: number
  /** Who approved or rejected it, and why. */
  reason: string
}

export type SummarizeTextInput = {
  /** The text to summarize. */
  text: string
  /**
   * The maximum number of sentences in the summary.
   * @default 3
   */
  sentences?: number
}

export type SummarizeTextOutput = {
  /** The summary, in the language of the text. */
  summary: string
  /** The topics of the text: one to five words or short phrases. */
  topics: string[]
}

export type TriageTicketInput = {
  /** The subject of the ticket. */
  subject: string
  /** The message from the customer. */
  body: string
}

export type TriageTicketOutput = {
  /** How soon the ticket needs a response. */
  priority: 'low' | 'normal' | 'high' | 'urgent'
  /** The team to handle the ticket. */
  team: 'billing' | 'accounts' | 'technical' | 'other'
  /** One or two sentences for the team, without personal data. */
  summary: string
  /** Whether an incident on the status page explains the problem. */
  knownIncident: boolean
}

export type WaitInput = {
  /** How long to wait, from 0 to 3600 seconds. */
  seconds: number
}

export type WaitOutput = {
  /** How long the agent waited, in seconds. */
  waitedSeconds: number
}

/** The agents by slug, for `new Client<Agents>(…)`. */
export type Agents = {
  /** Replaces personal data in a text with placeholders and returns the position of each. Detects email addresses, phone numbers, payment cards, IBANs, US Social Security numbers and IP addresses. */
  'redact-pii': {
    input: RedactPiiInput
    output: RedactPiiOutput
  }
  /** Refunds an order. More than 100 dollars need the approval of a person, who can change the amount. */
  'refund-order': {
    input: RefundOrderInput
    output: RefundOrderOutput
  }
  /** Summarizes a text in a few sentences and lists its topics. */
  'summarize-text': {
    input: SummarizeTextInput
    output: SummarizeTextOutput
  }
  /** Determines the priority of a support ticket and the team to handle it, without storing personal data. */
  'triage-ticket': {
    input: TriageTicketInput
    output: TriageTicketOutput
  }
  /** Waits for a number of seconds. Use it to try asynchronous runs. */
  wait: {
    input: WaitInput
    output: WaitOutput
  }
}
