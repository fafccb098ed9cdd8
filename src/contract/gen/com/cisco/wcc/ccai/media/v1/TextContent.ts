// Original file: proto/byova_common.proto


/**
 * Text in one of two forms, with its language.
 */
export interface TextContent {
  /**
   * Plain text.
   */
  'text'?: (string);
  /**
   * Text with speech markup.
   */
  'ssml'?: (string);
  /**
   * BCP-47 tag such as "en-US".
   */
  'language_code'?: (string);
  'input_content'?: "text"|"ssml";
}

/**
 * Text in one of two forms, with its language.
 */
export interface TextContent__Output {
  /**
   * Plain text.
   */
  'text'?: (string);
  /**
   * Text with speech markup.
   */
  'ssml'?: (string);
  /**
   * BCP-47 tag such as "en-US".
   */
  'language_code'?: (string);
}
