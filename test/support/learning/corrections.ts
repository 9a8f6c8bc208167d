import type { Version } from '../../../lib/core/agent.ts'
import { type Execution, type Feedback, failure } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import { system } from '../../../lib/system.ts'
import { executionOf, leased } from '../engine/executions.ts'
import type { RecordedRequest } from '../scripted-model/recorded-request.ts'

/**
 * Twenty questions to a support agent whose answers people corrected. `paraphrase`: the same question as another
 * customer asks it. `synonyms`: the same once more with hardly a word in common, which no search by words can find. All
 * were written before they were measured, and not changed afterwards.
 */
export const CORRECTIONS: { question: string; paraphrase: string; synonyms: string }[] = [
  {
    question: 'My parcel says delivered but there is nothing at my door.',
    paraphrase: 'It says my parcel was delivered yesterday. I have not received anything.',
    synonyms: 'The tracking page claims the package has arrived, yet I never received it.',
  },
  {
    question: 'How do I change the credit card that you charge every month?',
    paraphrase: 'I have a new credit card, where do I enter it?',
    synonyms: 'I got a new bank card. Where can I update my payment details for the subscription?',
  },
  {
    question: 'I forgot my password and the reset email never comes.',
    paraphrase: 'I asked for a new password three times and got no email.',
    synonyms: "I can't sign in, and the message with the link to choose a new password doesn't show up.",
  },
  {
    question: 'Can I return shoes that I wore once outside?',
    paraphrase: 'The shoes hurt after one walk. Do you still take them back?',
    synonyms: 'Is it possible to send sneakers back after walking around town in them for a day?',
  },
  {
    question: 'The invoice for March has the wrong VAT number of our company.',
    paraphrase: 'We need a corrected invoice, our VAT number is not right.',
    synonyms: 'Our tax ID is incorrect on the bill you sent for last month, please fix it.',
  },
  {
    question: 'Please delete my account and all data you have about me.',
    paraphrase: 'I want my account gone, including my personal data.',
    synonyms: 'I want to leave your service, and you should erase everything that you store on me.',
  },
  {
    question: 'The app crashes on my phone as soon as I open the camera.',
    paraphrase: 'When I tap on the camera button your app just closes.',
    synonyms: 'Every time I try to take a picture, your Android application closes by itself.',
  },
  {
    question: 'I was charged twice for the same order.',
    paraphrase: 'Why do I see two charges for one order on my card?',
    synonyms: 'There are two identical payments on my bank statement, although I bought only one thing.',
  },
  {
    question: 'Do you ship to Norway, and what does it cost?',
    paraphrase: 'What are the shipping costs for Norway?',
    synonyms: 'How much is delivery to Oslo, if you deliver there at all?',
  },
  {
    question: 'The lamp I received is broken, the glass has a crack.',
    paraphrase: 'I unpacked the lamp and the glass is cracked.',
    synonyms: 'My new desk light came damaged: part of it is shattered.',
  },
  {
    question: 'How can I add a colleague to our team account?',
    paraphrase: 'My colleague needs access to our account as well.',
    synonyms: 'We hired somebody. What do I do to invite her to our workspace?',
  },
  {
    question: 'When will the blue jacket in size M be available again?',
    paraphrase: 'Is the blue jacket coming back in M?',
    synonyms: 'The medium navy coat is sold out. Do you know when you get more of them?',
  },
  {
    question: 'My discount code is rejected at checkout.',
    paraphrase: 'I have a code for 10 % off, but it says invalid.',
    synonyms: "The voucher doesn't work when I want to pay.",
  },
  {
    question: 'I want to cancel my subscription before the trial ends.',
    paraphrase: 'The trial runs until Sunday, how do I cancel in time?',
    synonyms: 'How do I stop the free test period so that I am not billed afterwards?',
  },
  {
    question: 'Where can I download the export of my reports as CSV?',
    paraphrase: 'How do I get my reports as a CSV file?',
    synonyms: 'I need my statistics in a spreadsheet. Is there a button to get the file?',
  },
  {
    question: 'The website is very slow since yesterday evening.',
    paraphrase: 'Your site takes ages to load today.',
    synonyms: 'Pages have been taking forever to load since last night.',
  },
  {
    question: 'I moved. Please send my order to my new address.',
    paraphrase: 'I gave you my old address by mistake, can you still change it for the order?',
    synonyms: 'Can you still redirect the shipment? I live in another street now.',
  },
  {
    question: 'Is the blender safe for the dishwasher?',
    paraphrase: 'Can the blender go into the dishwasher?',
    synonyms: 'Can I clean the mixer in the machine, or do I have to wash it by hand?',
  },
  {
    question: 'You sent me a red mug, but I ordered a green one.',
    paraphrase: 'I got the wrong colour, my mug should be green.',
    synonyms: 'The cup that arrived has a different color than what I picked.',
  },
  {
    question: 'Two-factor login asks for a code from a phone that I lost.',
    paraphrase: 'I lost my phone and cannot log in, because I do not get the codes.',
    synonyms: 'My mobile was stolen, so I have no way to get the verification number when I log in.',
  },
]

/** The same questions as other customers ask them: other names, numbers and days. Thirty, in the order of the above. */
export const SIMILAR: { question: string; of: number }[] = [
  { question: 'My parcel 7741 says delivered but there is nothing at my door.', of: 0 },
  { question: 'Hello, my parcel says delivered, but there is nothing at our door!', of: 0 },
  { question: 'How do I change the credit card that you charge every year?', of: 1 },
  { question: 'How can we change the credit card that you charge each month?', of: 1 },
  { question: 'I forgot my password and the reset email does not come.', of: 2 },
  { question: 'Forgot the password, and the reset email never comes to anna@example.com.', of: 2 },
  { question: 'Can I return boots that I wore once outside?', of: 3 },
  { question: 'The invoice for June has the wrong VAT number of our company.', of: 4 },
  { question: 'The invoice 2026-118 has the wrong VAT number, we are a company in Austria.', of: 4 },
  { question: 'Please delete the account of my son and all data you have about him.', of: 5 },
  { question: 'The app crashes on my tablet as soon as I open the camera.', of: 6 },
  { question: 'Since the update the app crashes on my phone when I open the camera.', of: 6 },
  { question: 'I was charged twice for the order A-5512.', of: 7 },
  { question: 'Do you ship to Iceland, and what does it cost?', of: 8 },
  { question: 'Do you also ship to Norway, and what would two boxes cost?', of: 8 },
  { question: 'The lamp we received yesterday is broken, the glass has a long crack.', of: 9 },
  { question: 'How can I add three colleagues to our team account?', of: 10 },
  { question: 'When will the blue jacket in size XL be available again?', of: 11 },
  { question: 'When will the green jacket in size M be available again?', of: 11 },
  { question: 'My discount code SPRING is rejected at checkout.', of: 12 },
  { question: 'I want to cancel my subscription before the trial ends on Friday.', of: 13 },
  { question: 'We want to cancel our subscription before our trial ends.', of: 13 },
  { question: 'Where can I download the export of my invoices as CSV?', of: 14 },
  { question: 'The website is very slow since this morning.', of: 15 },
  { question: 'I moved to Leeds. Please send my order to my new address.', of: 16 },
  { question: 'We moved last week, please send order 991 to the new address.', of: 16 },
  { question: 'Is the coffee grinder safe for the dishwasher?', of: 17 },
  { question: 'You sent me a white mug, but I ordered a black one.', of: 18 },
  { question: 'Two-factor login asks for a code from a phone that I do not have any more.', of: 19 },
  { question: 'The two-factor login asks me for a code from the phone that I lost in June.', of: 19 },
]

export const QUESTION = 'When will my parcel arrive?'

type Past = {
  question?: string
  answer?: string | null
  output?: JsonObject
  feedback?: Partial<Feedback>
  /** Whether the feedback comes from a token that may teach. */
  isReview?: boolean
}

/** Stores past executions, and feedback on them. */
export function pastExecutions(executions: ExecutionStore) {
  /** A past execution of a version. `answer: null`: it ended in ERROR. */
  async function past(version: Version, given: Past = {}): Promise<Execution> {
    const { question = QUESTION, answer = 'Tomorrow.', feedback } = given
    const lease = { owner: 'past', expiresAt: Date.now() + 60_000 }
    const execution = executionOf(version, { input: { question }, lease })
    await executions.create({ execution })
    const output = given.output ?? { answer }
    const common = { steps: 1, usage: NO_USAGE, model: 'a/b' }
    const outcome =
      answer === null
        ? failure({ code: 'AgentFailed', message: '' })
        : { status: 'SUCCESS' as const, output, ...common }
    const finishedAt = new Date().toISOString()
    await executions.finish({ execution: leased(execution, 'past'), outcome, finishedAt })
    if (feedback) await rate(execution, feedback, given.isReview)
    return execution
  }

  async function rate({ organizationId, id }: Execution, given: Partial<Feedback>, isReview = true) {
    const updatedAt = new Date().toISOString()
    const feedback: Feedback = { rating: -1, correctedOutput: null, note: null, ...given, updatedAt }
    await executions.giveFeedback({ organizationId, id, feedback, isReview, writer: system.newId() })
  }

  return { past, rate }
}

type Shown = { input: JsonObject; output: JsonObject; note?: string; unreviewed?: boolean }

/** The examples in the first message to a model. */
export function examplesIn(message: string | undefined): Shown[] {
  const [, list] = /<examples>\n([\s\S]*)\n<\/examples>/.exec(message ?? '') ?? []
  return (list ?? '').split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
}

export const answersIn = (message: string | undefined) =>
  examplesIn(message).map(({ output }) => output.answer)

/** The first message of a request: what the user says. */
export function messageOf(request: RecordedRequest | undefined): string {
  const [first] = request?.history ?? []
  return first?.type === 'text' && first.role === 'user' ? first.text : ''
}
